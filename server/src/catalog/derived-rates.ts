import type { Rates } from './model'

/** Each rate after the one that it derives from, which precedes it. */
const derivedFrom = [
  ['cachedInput', 'input'],
  ['cachedAudioInput', 'cachedInput'],
  ['cacheWrite', 'input'],
  ['cacheWriteLong', 'cacheWrite'],
  ['audioInput', 'input'],
  ['imageInput', 'input'],
  ['reasoning', 'output'],
  ['audioOutput', 'output'],
  ['imageOutput', 'output'],
] as const satisfies readonly (readonly [keyof Rates, keyof Rates])[]

/**
 * Completes a tier with the rates that it leaves out although the rates they derive from change: a kind of token that
 * costs the same as its base continues to do so; in a dearer tier any other keeps its proportion. A discount does not
 * extend to rates that the tier does not name.
 */
export function withDerivedRates(tier: Partial<Rates>, usual: Partial<Rates>): Partial<Rates> {
  const rates = { ...tier }
  for (const [name, base] of derivedFrom) {
    const [now, was, own] = [rates[base], usual[base], usual[name]]
    if (rates[name] !== undefined || own === undefined) continue
    if (now === undefined || was === undefined || now === was) continue
    if (own === was) rates[name] = now
    else if (now > was && was > 0n) rates[name] = (own * now + was - 1n) / was
  }
  return rates
}
