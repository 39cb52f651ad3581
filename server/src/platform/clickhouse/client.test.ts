import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { z } from 'zod'
import type { ClickHouse } from './client'
import {
  ClickHouseRejection,
  ClickHouseUnavailable,
  isRowRejected,
  isTableMissing,
} from './failure'
import { openClickHouse } from '../../../testing/clickhouse-stand-in/fixture'
import { ClickHouseStandIn, type StandInFault } from '../../../testing/clickhouse-stand-in/stand-in'
import { createTable, exportedTables } from '../../request-logs/clickhouse/tables'
import { eventually } from '../../../testing/eventually'

let standIn: ClickHouseStandIn
let client: ClickHouse
beforeEach(async () => {
  standIn = new ClickHouseStandIn()
  client = openClickHouse(standIn.url)
  await client.execute(createTable(exportedTables.body, 30))
})
afterEach(() => standIn[Symbol.dispose]())

const bodyOf = (id: string, text = 'x') =>
  JSON.stringify({
    id,
    started_at: '2026-11-27 10:00:00.123',
    user_id: 'user_1',
    request_body: text,
    response_body: null,
    version: 1,
  })

const Row = z.object({ request_body: z.string(), response_body: z.null() })
const read = (userId = 'user_1', id = 'a') =>
  client.select(
    {
      text: 'SELECT request_body, response_body FROM request_body FINAL WHERE user_id = {userId:String} AND id = {id:String} LIMIT 1',
      parameters: { userId, id },
    },
    Row,
  )

test('rows that were inserted are read, compressed or not', async () => {
  const long = 'ü"\\\n💥'.repeat(1000)
  await client.insert('request_body', [bodyOf('a'), bodyOf('b')])
  await client.insert('request_body', [bodyOf('c', long)])
  expect(await read()).toEqual([{ request_body: 'x', response_body: null }])
  expect(await read('user_1', 'c')).toEqual([{ request_body: long, response_body: null }])
  const inserts = standIn.requests.filter(({ text }) => text.startsWith('INSERT'))
  expect(inserts.map(({ isCompressed }) => isCompressed)).toEqual([false, true])
})

test.each([
  "' OR 1 = 1 --",
  String.raw`\' {id:String} \\N`,
  'tab\tline\nreturn\r',
  '%27&param_id=b',
  'ü💥',
])('a value travels as a parameter: %j', async (id) => {
  await client.insert('request_body', [bodyOf('a'), bodyOf(id, 'own')])
  expect(await read('user_1', id)).toEqual([{ request_body: 'own', response_body: null }])
  expect(standIn.requests.at(-1)?.text).not.toContain(id)
})

/** Reads a row while this fault happens, and returns what is thrown. */
async function failing(fault: StandInFault): Promise<unknown> {
  await client.insert('request_body', [bodyOf('a')])
  standIn.faults.push(fault)
  return read().then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('an error', () => {
  test('with a status has its code, and no text of the server', async () => {
    const thrown = await failing({ type: 'exception', code: 241, label: 'MEMORY_LIMIT_EXCEEDED' })
    expect(thrown).toBeInstanceOf(ClickHouseRejection)
    expect(thrown).toMatchObject({ code: 241 })
    expect(String(thrown)).toContain('code 241 MEMORY_LIMIT_EXCEEDED')
    expect(String(thrown)).not.toContain('row')
  })

  test.each(['error behind rows', 'tagged error behind rows'] as const)(
    'in the middle of an answer with status 200 is one: %s',
    async (type) => {
      expect(await failing({ type })).toMatchObject({ name: 'ClickHouseRejection', code: 241 })
    },
  )

  test('is also an answer that was cut off', async () => {
    expect(await failing({ type: 'broken off' })).toBeInstanceOf(ClickHouseUnavailable)
  })

  test('from a proxy, or without an answer, is that it does not answer', async () => {
    expect(await failing({ type: 'bad gateway' })).toBeInstanceOf(ClickHouseUnavailable)
    standIn[Symbol.dispose]()
    await expect(read()).rejects.toBeInstanceOf(ClickHouseUnavailable)
  })

  test('about a row, and about a missing table, is recognized', async () => {
    const table = standIn.tables.get('request_body')
    if (table) table.refuses = () => true
    const thrown = await client
      .insert('request_body', [bodyOf('a')])
      .catch((error: unknown) => error)
    expect(isRowRejected(thrown)).toBe(true)
    expect(String(thrown)).not.toContain('user_1')
    standIn.tables.clear()
    const missing = await read().catch((error: unknown) => error)
    expect([isRowRejected(missing), isTableMissing(missing)]).toEqual([false, true])
  })

  test('about a password belongs to the statement, not to a row', async () => {
    const wrong = openClickHouse(standIn.url.replace('tollgate:', 'tollgate:x'))
    const thrown = await wrong
      .insert('request_body', [bodyOf('a')])
      .catch((error: unknown) => error)
    expect(thrown).toMatchObject({ code: 516 })
    expect(isRowRejected(thrown)).toBe(false)
  })
})

test('a server that hangs is abandoned, and after three times not called for a while', async () => {
  const timeouts = { readMs: 50, writeMs: 50 }
  const patient = openClickHouse(standIn.url, timeouts, () => 0)
  const ask = () =>
    patient.execute(createTable(exportedTables.body, 30)).then(
      () => 'answered',
      (error: unknown) => String(error),
    )
  const asked = standIn.requests.length
  for (let at = 0; at < 3; at++) standIn.faults.push({ type: 'hang' })
  for (let at = 0; at < 3; at++) expect(await ask()).toContain('did not answer')
  expect(patient.isAway).toBe(true)
  // At once: the server would answer.
  expect(await ask()).toContain('did not answer')
  expect(standIn.requests).toHaveLength(asked)
})

test('closing ends the running requests, and later ones', async () => {
  standIn.faults.push({ type: 'hang' })
  const running = read().catch((error: unknown) => String(error))
  // It has arrived, and hangs.
  await eventually(() => standIn.faults.length === 0)
  client[Symbol.dispose]()
  expect(await running).toContain('did not answer')
  await expect(read()).rejects.toThrow('did not answer')
})

test('a statement that no form has is a syntax error of the stand-in', async () => {
  for (const text of [
    'SELECT 1',
    "SELECT count() AS total FROM request_body FINAL WHERE user_id = 'user_1'",
    'SELECT count() AS total FROM request_body FINAL WHERE id = {id:String}',
    'DROP TABLE request_body',
  ]) {
    const parameters = text.includes('{id') ? { id: 'a' } : {}
    const thrown = await client.select({ text, parameters }, z.unknown()).catch((e: unknown) => e)
    expect(thrown).toMatchObject({ code: 62 })
  }
})
