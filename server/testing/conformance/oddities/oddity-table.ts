import { problemsOf } from './heard'
import { oddities } from './oddities'
import { cannotOccur, type Oddity } from './oddity'
import type { Dialect } from './spoken'
import { tableDialects } from '../table'
import { toTable } from '../../wire/docs-table'

/** The dialects in the order of the other tables. */
const dialects = ['openai', 'responses', 'anthropic', 'google', 'bedrock', 'cohere'] as const

/** Returns how an oddity can come in a dialect, if the caller gets what he must. */
function cellOf(dialect: Dialect, oddity: Oddity): string {
  const said = oddity.said[dialect]
  if (said === cannotOccur) return said
  if (problemsOf(dialect, said, oddity).length > 0) return 'lost'
  if (!said.whole) return 'stream'
  return said.stream ? 'yes' : 'whole'
}

/** The table of docs/operate/providers.md of what is odd in answers, made by answering so in every dialect. */
export function oddityTable(): string {
  const head = ['What is odd in an answer', ...tableDialects.map(({ name }) => name)]
  const rows = oddities.map((oddity) => [
    oddity.name,
    ...dialects.map((dialect) => cellOf(dialect, oddity)),
  ])
  return toTable(head, rows)
}
