import type { Context } from 'hono'
import type { Env } from './env'
import { streamTimed } from './timed-stream'

/** Nothing is held while the client does not read. */
const timeouts = { maxDurationMs: 3_600_000, stalledMs: 120_000 }

/** Answers with lines of JSON that are read while they are sent, as a file of this name. */
export function answerLines(
  c: Context<Env>,
  name: string,
  lines: AsyncGenerator<string>,
): Response {
  const headers = {
    'content-type': 'application/x-ndjson',
    'content-disposition': `attachment; filename="${name}.jsonl"`,
  }
  // A HEAD has no reader.
  if (c.req.method === 'HEAD') return c.body(null, 200, headers)
  return c.body(streamTimed(lines, timeouts), 200, headers)
}
