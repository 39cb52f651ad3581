import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from './json-body'
import { completionTokens, promptTokens, readUsage } from './usage'

/** Recorded answers, which the project reads where they are and does not hold. */
const folder = join(import.meta.dir, '../../../../shared/fixtures/upstream')
const alike = /^(openai-(text|completion-text|embedding|chat-stream)|mistral|groq|deepseek)/
const recordings = existsSync(folder) ? readdirSync(folder).filter((name) => alike.test(name)) : []

/** What one line of a recording is: an event of a stream, with or without its framing. */
function parsed(line: string): unknown {
  const data = line.replace(/^data: ?/, '')
  return data.startsWith('{') ? JSON.parse(data) : undefined
}

function blocksOf(name: string): unknown[] {
  const text = readFileSync(join(folder, name), 'utf8')
  const values = name.endsWith('.json') ? [JSON.parse(text)] : text.split('\n').map(parsed)
  return values.filter(isObject).flatMap((value) => value['usage'] ?? [])
}

test.if(recordings.length > 0)('I11: recorded usage is read whole, in both habits', () => {
  let checked = 0
  for (const block of recordings.flatMap(blocksOf)) {
    for (const extras of ['inside', 'outside'] as const) {
      const usage = readUsage(block, extras)
      if (!usage) throw new Error(`No usage was read in ${JSON.stringify(block)}.`)
      expect(usage.flawed).toBeFalse()
      expect(block).toMatchObject({ total_tokens: promptTokens(usage) + completionTokens(usage) })
      checked += 1
    }
  }
  expect(checked).toBeGreaterThan(10)
})
