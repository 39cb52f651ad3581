import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OpenRecords } from './open-records'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  path = join(directory, 'open')
})
afterEach(() => rmSync(directory, { recursive: true }))

const opened = (beforeWrite = () => {}) => new OpenRecords(path, beforeWrite)
const idsIn = (records: OpenRecords) => records.orphans().map(({ attemptId }) => attemptId)

/** What the next start finds. */
function left() {
  using records = opened()
  return records.orphans()
}

test('what began and did not end is what the next start finds, and the one after it', async () => {
  {
    using records = opened()
    await Promise.all([records.begin('att_1', 'first'), records.begin('att_2', '{"a":"b c"}')])
    await records.begin('att_3', 'ünï ☃ 🙂')
    records.end('att_1')
    expect(records.count).toBe(2)
    expect(records.orphans()).toEqual([])
  }
  const expected = [
    { attemptId: 'att_2', body: '{"a":"b c"}' },
    { attemptId: 'att_3', body: 'ünï ☃ 🙂' },
  ]
  expect(left()).toEqual(expected)
  expect(left()).toEqual(expected)
  {
    using records = opened()
    expect(records.count).toBe(0)
    records.end('att_2')
    await records.begin('att_4', 'of this start')
    expect(idsIn(records)).toEqual(['att_3'])
  }
  expect(left().map(({ attemptId }) => attemptId)).toEqual(['att_3', 'att_4'])
})

test('C04: cut anywhere, it holds what was written whole; a flipped byte costs one line', async () => {
  const lines: string[] = []
  {
    using records = opened()
    for (let at = 0; at < 5; at++) {
      await records.begin(`att_${at}`, `body ${at}`)
      lines.push(readFileSync(path, 'utf8'))
    }
  }
  const whole = readFileSync(path)
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length))
    const count = lines.filter((text) => text.length - 1 <= length).length
    expect(left()).toHaveLength(count)
  }
  for (let at = 0; at < whole.length; at++) {
    const flipped = Buffer.from(whole)
    flipped[at] = (flipped[at] ?? 0) ^ 0x04
    writeFileSync(path, flipped)
    const found = left()
    expect(found.length).toBeGreaterThanOrEqual(3)
    for (const { attemptId, body } of found) expect(body).toBe(`body ${attemptId.slice(4)}`)
  }
})

test('C07: what could not be written has not begun, and what comes after it is whole', async () => {
  let isFull = false
  {
    using records = opened(() => {
      if (isFull) throw new Error('ENOSPC')
    })
    await records.begin('att_1', 'before')
    isFull = true
    const refused = await Promise.allSettled(['att_2', 'att_3'].map((id) => records.begin(id, 'x')))
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    records.end('att_1')
    expect(() => records.flush()).toThrow('ENOSPC')
    isFull = false
    await records.begin('att_4', 'after')
  }
  expect(left()).toEqual([{ attemptId: 'att_4', body: 'after' }])
})

test('does not grow with history', async () => {
  using records = opened()
  await records.begin('att_long', 'a stream of an hour')
  for (let round = 0; round < 400; round++) {
    const ids = Array.from({ length: 50 }, (_, at) => `att_${round}_${at}`)
    await Promise.all(ids.map((id) => records.begin(id, 'x'.repeat(400))))
    for (const id of ids) records.end(id)
  }
  records.flush()
  expect(statSync(path).size).toBeLessThan(1_200_000)
  expect(left()).toEqual([{ attemptId: 'att_long', body: 'a stream of an hour' }])
})
