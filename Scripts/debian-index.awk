# Makes NDJSON of a Debian package index: packages, and with -v links=1 their dependencies, one a line.
function json(text) {
    gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); gsub(/\t/, "\\t", text); gsub(/[\001-\037]/, "", text)
    return "\"" text "\""
}

function emit_links(kind, list,    count, parts, i, target, limit) {
    # Of alternatives the first counts, as it does for apt.
    count = split(list, parts, /,[ ]*/)
    for (i = 1; i <= count; i++) {
        sub(/[ ]*\|.*/, "", parts[i])
        target = parts[i]; limit = ""
        if (match(target, /\(.*\)/)) limit = substr(target, RSTART + 1, RLENGTH - 2)
        sub(/[ ]*\(.*/, "", target); sub(/:.*/, "", target); gsub(/[ ]/, "", target)
        if (target == "" || seen[name, kind, target]++) continue
        printf "{\"from\":%s,\"on\":%s,\"kind\":%s", json(name), json(target), json(kind)
        if (limit != "") printf ",\"constraint\":%s", json(limit)
        print "}"
    }
}

function emit() {
    # An index may list versions of one package: the first stands.
    if (name == "" || done[name]++) { reset(); return }
    if (links) {
        emit_links("depends", depends); emit_links("pre-depends", predepends)
    } else {
        printf "{\"name\":%s,\"version\":%s,\"summary\":%s,\"section\":%s,\"maintainer\":%s", \
            json(name), json(version), json(summary), json(section), json(maintainer)
        if (size != "") printf ",\"installedSize\":%s", size
        print "}"
    }
    reset()
}

function reset() { name = version = summary = section = maintainer = size = depends = predepends = "" }

/^Package: / { name = substr($0, 10) }
/^Version: / { version = substr($0, 10) }
/^Section: / { section = substr($0, 10) }
/^Maintainer: / { maintainer = substr($0, 13) }
/^Installed-Size: [0-9]+$/ { size = $2 }
/^Description: / { summary = substr($0, 14) }
/^Depends: / { depends = substr($0, 10) }
/^Pre-Depends: / { predepends = substr($0, 14) }
/^$/ { emit() }
END { emit() }
