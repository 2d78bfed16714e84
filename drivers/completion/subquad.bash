# Bash completion for subquad. Options and families come from `--help`, so that they cannot go stale.

_subquad_words() {  # the options and sub-commands that `subquad "$@" --help` lists
  subquad "$@" --help 2>/dev/null | sed -nE \
    -e 's/^  (-[A-Za-z],)?(--[a-z0-9-]+).*/\2/p' \
    -e '/^Subcommands:/,/^$/ s/^  ([a-z][a-z0-9-]*) .*/\1/p'
}

_subquad() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
  local verbs="chain solve reduce lift graph verify exp attend anna experiment gen info"
  local problems="cnf ov p-ov ann gap-ann attention"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$current")
    return
  fi
  case $previous in
    --via) mapfile -t COMPREPLY < <(compgen -W "direct gap-ann" -- "$current"); return ;;
    --kernel) mapfile -t COMPREPLY < <(compgen -W "exact exact-f32 rigorous low-rank low-rank-f32" -- "$current"); return ;;
    --parameters) mapfile -t COMPREPLY < <(compgen -W "refined paper" -- "$current"); return ;;
    --audit) mapfile -t COMPREPLY < <(compgen -W "auto full sample: none" -- "$current"); return ;;
    --from | --to) mapfile -t COMPREPLY < <(compgen -W "$problems" -- "$current"); return ;;
    -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
  esac
  if [ "$verb" = gen ]; then
    local path=() word
    for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
      case $word in -*) break ;; *) path+=("$word") ;; esac
    done
    mapfile -t COMPREPLY < <(compgen -W "$(_subquad_words gen "${path[@]}")" -- "$current")
    return
  fi
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_subquad_words "$verb")" -- "$current")
  elif [ "$COMP_CWORD" -eq 2 ] && [[ " solve verify reduce lift " == *" $verb "* ]] ||
    [ "$COMP_CWORD" -eq 3 ] && [[ " reduce lift " == *" $verb "* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$problems" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}

complete -o filenames -F _subquad subquad
