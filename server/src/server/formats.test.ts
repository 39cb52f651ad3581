import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sealed from '../../testing/formats/sealed.json'
import { withLog } from '../booking/book-usage'
import { seal, unseal } from '../platform/db/sealed'
import { createTestEvent } from '../../testing/ledger/event'
import { chargeOf } from '../ledger/charge'
import { toOrphanRecord, toRecord } from '../ledger/usage-record'
import { toOrphanLog, toLogRecord } from '../request-logs/log-record'
import { valuesForTests } from '../../testing/request-logs/values'
import { Journal } from '../journal/journal'

/**
 * What one version writes and another reads, when they run side by side or one takes the other's place.
 * The files in `formats/` were written by a release. What reads them must go on reading them, and what
 * writes must go on writing what the release before can read: a change of these files is a change of a
 * format, and wants two releases, one that reads it and a later one that writes it.
 */
const formats = join(import.meta.dir, '../../testing/formats')
const segment = 'journal-00000001.log'
const released = join(formats, 'journal.txt')

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const open = () => Journal.open({ directory, sync: 'always' })

const startedAt = '2026-11-22T10:00:00.000Z'
const plain = createTestEvent('user_00000000000000000000000001', {
  id: 'att_00000000000000000000000001',
  startedAt,
  leaseId: 'lease_00000000000000000000000001',
  cost: 1_234_567_890_123n,
  fromLease: 1_234_567_890_000n,
})
const full = createTestEvent('user_00000000000000000000000002', {
  id: 'att_00000000000000000000000002',
  startedAt,
  billingMode: 'member_pays',
  organizationId: 'org_00000000000000000000000001',
  feeMillionths: 50_000,
  requestedModel: 'collection/"ü☃"',
  passedOver: [{ model: 'a/b', provider: 'a', connectionId: null, reason: 'cooling_down' }],
  reason: 'provider_error',
  cost: 5n,
  fromLease: 5n,
  price: 9_007_199_254_740_993n,
})
const open1 = createTestEvent('user_00000000000000000000000003', {
  id: 'att_00000000000000000000000003',
  startedAt,
})
const log = valuesForTests({ id: 'req_00000000000000000000000001' })

/** Writes what the file in `formats/` has. */
async function write(): Promise<void> {
  await using journal = await open()
  await journal.begin(plain.id, toRecord(plain))
  await journal.begin(open1.id, toRecord(open1))
  await journal.settle(plain.id, withLog(toRecord(plain), toLogRecord(log)))
  await journal.settle(full.id, toRecord(full))
}

describe('L07: the journal', () => {
  test('of a release is read: rows, charges, logs and open attempts', async () => {
    copyFileSync(released, join(directory, segment))
    const damages: unknown[] = []
    await using journal = await Journal.open({
      directory,
      sync: 'always',
      onDamage: (damage) => damages.push(damage),
    })
    expect(damages).toEqual([])
    const rows = journal.settled(10).map(({ body }) => body)
    expect(rows).toHaveLength(2)
    const [first = '', second = ''] = rows
    const [record = '', logged] = first.split('\t')
    expect(chargeOf(record)).toMatchObject({
      id: plain.id,
      startedAt,
      accountId: plain.accountId,
      leaseId: plain.leaseId,
      cost: 1_234_567_890_123n,
      fromLease: 1_234_567_890_000n,
    })
    expect(logged).toBe(toLogRecord(log))
    expect(chargeOf(second)).toMatchObject({
      id: full.id,
      payeeId: 'org_00000000000000000000000001',
      feeMillionths: 50_000,
    })
    const orphans = journal.orphans()
    expect(orphans.map(({ attemptId }) => attemptId)).toEqual([open1.id])
    const body = orphans[0]?.body ?? ''
    expect(chargeOf(toOrphanRecord(body))).toMatchObject({ id: open1.id, cost: 0n, isOrphan: true })
    expect(JSON.parse(toOrphanLog(body))[2]).toBe(open1.userId)
  })

  test('is written as the release wrote it, byte for byte', async () => {
    await write()
    const written = readdirSync(directory).filter((name) => name.endsWith('.log'))
    expect(written).toEqual([segment])
    const text = readFileSync(join(directory, segment), 'utf8')
    expect(text).toBe(readFileSync(released, 'utf8'))
  })
})

describe('L07: a sealed secret', () => {
  const keys = [{ id: sealed.keyId, key: Buffer.from(sealed.key, 'base64') }] as const

  test.each(sealed.values)('of a release is opened ($what)', ({ value }) => {
    expect(unseal(Buffer.from(value, 'base64'), keys, sealed.at)).toBe(sealed.secret)
  })

  test('is written in the version that the release reads', () => {
    const now = seal(sealed.secret, keys, sealed.at)
    const [last] = sealed.values.slice(-1)
    const then = Buffer.from(last?.value ?? '', 'base64')
    const head = 2 + sealed.keyId.length
    expect([now.length, now.subarray(0, head)]).toEqual([then.length, then.subarray(0, head)])
  })
})
