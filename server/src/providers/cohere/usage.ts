import { isObject } from '../../wire/json-body'
import { noUsage, type Usage } from '../../wire/usage'
import { Counter } from '../../wire/usage-counts'

/**
 * Reads the usage of a chat answer. `billed_units` are the units that Cohere charges, without its own
 * preamble and cached tokens, so they are shown and charged; `tokens` stands in. Source: contract 12.3.
 */
export function toUsage(block: unknown): Usage | undefined {
  if (!isObject(block)) return undefined
  const counts = [block['billed_units'], block['tokens']].filter(isObject)
  for (const units of counts) {
    const counter = new Counter()
    const input = counter.read(units, 'input_tokens')
    const output = counter.read(units, 'output_tokens')
    if (counter.isFlawed || (input === undefined && output === undefined)) continue
    return { ...noUsage, input: input ?? 0, output: output ?? 0 }
  }
  return undefined
}
