import StrataGraph

/// The class of Film is written here; the plug-in makes its properties.
final class Movie: _Movie {
    override func awakeFromInsert() { format = Format(height: 720, width: 1280) }
}
