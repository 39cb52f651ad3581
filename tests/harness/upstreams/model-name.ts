const billings = ['bill-done', 'bill-full', 'bill-sent', 'bill-none'] as const

/**
 * What the provider charges for: an answer it finished, the whole answer whatever was taken of it,
 * the prompt and what was written so far, or nothing.
 */
export type Billing = (typeof billings)[number]

/** A model name taken apart: `<behaviour>[-<argument>][~<tag>][+<billing>]`. */
export interface ModelName {
  behaviour: string
  argument: string
  billing: Billing
}

/**
 * Reads a model name; `knows` says which behaviours there are. The longest one that fits wins, so
 * `finish-error` is itself and `finish-eos` is `finish` with an argument. Undefined if none fits.
 * A tag means nothing: it tells the requests of one asker from those of another.
 */
export function parseModelName(
  model: string,
  knows: (behaviour: string) => boolean,
): ModelName | undefined {
  const plus = model.lastIndexOf('+')
  const billing = billings.find((name) => name === model.slice(plus + 1)) ?? 'bill-done'
  const tagged = model.endsWith(`+${billing}`) ? model.slice(0, plus) : model
  const name = tagged.replace(/~.*$/, '')
  for (let end = name.length; end > 0; end = name.lastIndexOf('-', end - 1)) {
    const behaviour = name.slice(0, end)
    if (knows(behaviour)) return { behaviour, argument: name.slice(end + 1), billing }
  }
  return undefined
}
