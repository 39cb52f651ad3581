import { noUsage, type Usage } from '../wire/usage'
import { Counter } from '../wire/usage-counts'

/** The usage of an answer that has no output; undefined where the count is no number of tokens. */
export function toInputUsage(count: unknown): Usage | undefined {
  const input = new Counter().read({ count }, 'count')
  if (input === undefined) return undefined
  return { ...noUsage, input }
}
