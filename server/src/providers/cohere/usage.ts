import { isObject } from '../../wire/json-body'
import { noUsage, type Usage } from '../../wire/usage'
import { Counter } from '../../wire/usage-counts'

/**
 * What a chat answer used. `billed_units` are what Cohere charges, without its own preamble and what
 * it cached, so they are what is shown and charged; `tokens` stands in. Source: contract 12.3.
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
