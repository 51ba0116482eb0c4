import StrataGraph

/// The class of Film is declared here; the plug-in generates its properties.
final class Movie: _Movie {
    override func awakeFromInsert() { format = Format(height: 720, width: 1280) }
}
