import type { Context } from 'hono'
import { toCsvLine } from './csv'
import type { Env } from './env'
import { streamTimed } from './timed-stream'

/** Nothing is held while the client does not read. */
const timeouts = { maxDurationMs: 3_600_000, stalledMs: 120_000 }

const headers = { 'content-type': 'application/x-ndjson' }

/** Answers with lines of JSON that are read while they are sent. */
export function answerLines(c: Context<Env>, lines: AsyncGenerator<string>): Response {
  // A HEAD has no reader.
  if (c.req.method === 'HEAD') return c.body(null, 200, headers)
  return c.body(streamTimed(lines, timeouts), 200, headers)
}

const csvHeaders = { 'content-type': 'text/csv; charset=utf-8' }

/** Answers with comma-separated values that are read while they are sent. */
export function answerTable(
  c: Context<Env>,
  rows: AsyncGenerator<readonly (string | number | null)[]>,
): Response {
  if (c.req.method === 'HEAD') return c.body(null, 200, csvHeaders)
  return c.body(streamTimed(toLines(rows), timeouts), 200, csvHeaders)
}

async function* toLines(rows: AsyncGenerator<readonly (string | number | null)[]>) {
  for await (const row of rows) yield toCsvLine(row)
}
