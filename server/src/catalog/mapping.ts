/** The maximum of `*` in a pattern, and the highest `$n` of a target. */
export const maxRuns = 5

/** A compiled pattern. */
export interface Pattern {
  isExact: boolean
  /** Returns the matches of each `*`, in order; undefined where the name does not match. */
  match: (name: string) => string[] | undefined
}

/**
 * Compiles a pattern: each `*` matches any run of characters, also none, and takes as few of them as possible. Every
 * literal is searched once, after the one before it, without backtracking, so that a match takes no longer than the
 * pattern's length times the name's.
 */
export function toPattern(source: string): Pattern {
  const [first = '', ...others] = source.split('*')
  const last = others.pop()
  if (last === undefined) {
    return {
      isExact: true,
      match: (name) => (name === source ? [] : undefined),
    }
  }
  return {
    isExact: false,
    match(name) {
      const end = name.length - last.length
      if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return undefined
      const runs: string[] = []
      let from = first.length
      for (const literal of others) {
        const at = name.indexOf(literal, from)
        if (at < 0 || at + literal.length > end) return undefined
        runs.push(name.slice(from, at))
        from = at + literal.length
      }
      runs.push(name.slice(from, end))
      return runs
    },
  }
}

/** The number of wildcards in a pattern. */
export const countWildcards = (source: string): number => source.split('*').length - 1

/** Returns the numbers of the matches that a target refers to, such as 1 for `$1`. */
export const findReferences = (target: string): number[] =>
  [...target.matchAll(/\$(\d)/g)].map(([, digit]) => Number(digit))

/** Returns the target with the matches in place of `$1` to `$5`. */
export const fillTarget = (target: string, runs: readonly string[]): string =>
  target.replaceAll(/\$([1-5])/g, (_named, digit: string) => runs[Number(digit) - 1] ?? '')

/** A mapping of an account: requests for a name that matches get the target's model. Source: contract 7.6. */
export interface Mapping {
  id: string
  source: string
  target: string
  /** Lower comes first. */
  priority: number
}

/** The result of a mapping. */
export interface Mapped {
  mappingId: string
  target: string
}

interface Rule extends Mapping {
  pattern: Pattern
}

/**
 * The enabled mappings of an account. Exact ones come first, then lower priorities, longer literal parts and older
 * ones; a mapping's result is not mapped again. Source: contract 10.1.
 */
export class Mappings {
  readonly #exact = new Map<string, Mapping>()
  readonly #wildcards: readonly Rule[]

  constructor(mappings: readonly Mapping[]) {
    const ordered = sortMappings(mappings).map((mapping) => ({
      ...mapping,
      pattern: toPattern(mapping.source),
    }))
    // Of several mappings for one name the first applies.
    for (const rule of ordered.toReversed()) {
      if (rule.pattern.isExact) this.#exact.set(rule.source, rule)
    }
    this.#wildcards = ordered.filter(({ pattern }) => !pattern.isExact)
  }

  get isEmpty(): boolean {
    return this.#exact.size === 0 && this.#wildcards.length === 0
  }

  /** Returns the target of a name; undefined where no mapping matches. */
  apply(name: string): Mapped | undefined {
    const exact = this.#exact.get(name)
    if (exact) return { mappingId: exact.id, target: exact.target }
    for (const { id, target, pattern } of this.#wildcards) {
      const runs = pattern.match(name)
      if (runs) return { mappingId: id, target: fillTarget(target, runs) }
    }
    return undefined
  }
}

/** Sorts mappings in the order in which they are applied; ids rise with time. */
export const sortMappings = <Row extends Mapping>(mappings: readonly Row[]): Row[] =>
  mappings.toSorted(
    (one, other) =>
      Number(countWildcards(one.source) > 0) - Number(countWildcards(other.source) > 0) ||
      one.priority - other.priority ||
      literalLength(other) - literalLength(one) ||
      (one.id < other.id ? -1 : 1),
  )

const literalLength = ({ source }: Mapping) => source.length - countWildcards(source)
