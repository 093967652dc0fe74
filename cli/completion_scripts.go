package cli

import "strings"

// completionScripts are what shells read. Each asks the command itself how a
// word may go on, so that names come from the binary that is called.
var completionScripts = map[string]string{
	"bash": strings.ReplaceAll(`_blis() {
    local words=("${COMP_WORDS[@]:1:COMP_CWORD}") line
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == "FILES" ]]; then
            compopt -o filenames 2>/dev/null
            COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]#=}"))
        else
            COMPREPLY+=("$line")
        fi
    done < <("${COMP_WORDS[0]}" __complete -- "${words[@]}" 2>/dev/null)
}
complete -F _blis blis
`, "FILES", fileMark),
	"zsh": strings.ReplaceAll(`#compdef blis
_blis() {
    local -a list
    local line files=
    while IFS= read -r line; do
        if [[ $line == "FILES" ]]; then files=1; else list+=("$line"); fi
    done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( $#list )) && compadd -- "${list[@]}"
    [[ -n $files ]] && _files
}
compdef _blis blis
`, "FILES", fileMark),
	"fish": strings.ReplaceAll(`function __blis_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program $words[1]
    for line in ($program __complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = "FILES"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c blis -f -a '(__blis_complete)'
`, "FILES", fileMark),
}
