import { describe, expect, test } from 'bun:test'
import { openLog, limitRepeats } from './log'
import { Secrets, shortened, toErrorText } from './text'

const key = 'sk-live-0123456789'
const secrets = new Secrets()
secrets.add(key)
secrets.add(`${key}-and-more`)

test('foreign text becomes one line without terminal control sequences', () => {
  expect(shortened('a\n\u001B[31mb\u202Ec\td')).toBe('a [31mb c d')
  expect(shortened('x'.repeat(500))).toHaveLength(200)
  expect(shortened('😀'.repeat(500)).isWellFormed()).toBe(true)
})

test('a failure is described with its cause', () => {
  const thrown = new Error('no connection was made', { cause: new Error('refused') })
  expect(toErrorText(thrown)).toBe('no connection was made: refused')
  expect(toErrorText('odd')).toBe('odd')
})

describe('secrets', () => {
  test('are redacted in every text, the longer one first', () => {
    expect(secrets.hide(`Bearer ${key}-and-more, ${key}!`)).toBe('Bearer [secret], [secret]!')
  })

  test('never appear in a line of the log, as text or JSON', () => {
    const lines: string[] = []
    const write = (line: string) => void lines.push(line)
    for (const isJson of [true, false]) {
      openLog({ isJson, secrets, write })('warn', 'odd', `it said ${key}\nand more`)
    }
    expect(lines.join('')).not.toContain(key)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'warn',
      event: 'odd',
      message: 'it said [secret] and more',
    })
    expect(lines[1]).toEndWith('warn: it said [secret] and more\n')
  })

  test('below the minimum length are not redacted', () => {
    const short = new Secrets()
    short.add('dev')
    expect(short.hide('device')).toBe('device')
  })
})

test('few of thousands of similar lines are written, and more after a while', () => {
  const lines: string[] = []
  let now = 0
  const say = limitRepeats(
    (_level, event) => void lines.push(event),
    () => now,
  )
  for (let at = 0; at < 1000; at += 1) say('warn', 'failed', 'no')
  expect(lines).toHaveLength(21)
  now = 10_000
  say('warn', 'failed', 'no')
  expect(lines).toHaveLength(22)
})
