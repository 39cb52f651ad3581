import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { MailMessage } from './message'
import { postMail } from './outbox'
import { isMailWaiting, MailSender } from './mail-sender'
import type { Send } from './smtp'
import type { Database } from '../db/database'
import { openTestDatabase } from '../../../testing/db/database'
import { settled } from '../../../testing/clock'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

let failed: unknown[] = []
let givenUp: readonly bigint[] = []
beforeEach(async () => {
  await sql`delete from mail`.execute(database.query)
  failed = []
  givenUp = []
})

const senderOf = (send: Send, more: { firstRetryMs?: number; deadlineMs?: number } = {}) =>
  new MailSender({
    db: database.query,
    send,
    onFailure: (_id, error) => failed.push(error),
    onAbandoned: (ids) => (givenUp = ids),
    ...more,
  })

const post = (recipient: string) =>
  postMail(database.query, { recipient, subject: 'Hello', body: 'Text' })

const rows = () => database.query.selectFrom('mail').selectAll().orderBy('id').execute()

test('a mail is sent once, by any number of nodes', async () => {
  const addresses = Array.from({ length: 30 }, (_, n) => `someone${n}@example.com`)
  for (const address of addresses) await post(address)
  const sent: string[] = []
  const send: Send = async ({ recipient }) => {
    await settled()
    sent.push(recipient)
  }
  const senders = Array.from({ length: 4 }, () => senderOf(send))
  await Promise.all(senders.map((sender) => sender.deliverDue()))
  expect(sent.toSorted()).toEqual(addresses.toSorted())
  expect(await isMailWaiting(database.query)).toBe(false)
})

test('J03: a rejected mail is retried with growing delays, under the same id', async () => {
  await post('ann@example.com')
  const ids: string[] = []
  const sender = senderOf(async ({ id }: MailMessage) => {
    ids.push(id)
    throw new Error('421 not now')
  })
  const pauses: number[] = []
  for (const _try of [1, 2, 3, 4, 5, 6, 7, 8]) {
    await sql`update mail set next_attempt_at = now()`.execute(database.query)
    await sender.deliverDue()
    await sender.deliverDue()
    const { rows: found } = await sql<{ seconds: number }>`
      select extract(epoch from next_attempt_at - now())::float8 as seconds from mail
    `.execute(database.query)
    pauses.push(Math.round((found[0]?.seconds ?? 0) / 60))
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  expect(new Set(ids).size).toBe(1)
  expect(ids).toHaveLength(8)
  expect(failed).toHaveLength(8)
  expect(await rows()).toMatchObject([{ attempts: 8, last_error: '421 not now', sent_at: null }])
})

test('drops a mail that was not accepted in its lifetime, and reports it', async () => {
  await post('ann@example.com')
  await sql`update mail set expires_at = now()`.execute(database.query)
  await senderOf(() => Promise.reject(new Error('never asked'))).deliverDue()
  const [row] = await rows()
  expect(row?.failed_at).toBeInstanceOf(Date)
  expect(givenUp).toEqual(row ? [row.id] : [])
  expect(failed).toEqual([])
})

test('a server that never answers is left after the deadline, and holds up no other mail', async () => {
  await post('slow@example.com')
  await post('ann@example.com')
  const sent: string[] = []
  const sender = senderOf(
    async ({ recipient }, signal) => {
      if (recipient.startsWith('slow')) {
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        })
      }
      sent.push(recipient)
    },
    { deadlineMs: 20 },
  )
  await sender.deliverDue()
  expect(sent).toEqual(['ann@example.com'])
  expect(await rows()).toMatchObject([{ last_error: 'aborted' }, { last_error: null }])
})

test('a stop lets pending mails arrive', async () => {
  await post('ann@example.com')
  const begun = Promise.withResolvers<void>()
  const accepted = Promise.withResolvers<void>()
  const sender = senderOf(async (_mail, signal) => {
    begun.resolve()
    await accepted.promise
    signal.throwIfAborted()
  })
  const delivery = sender.deliverDue()
  await begun.promise
  const stopping = sender[Symbol.asyncDispose]()
  await settled()
  accepted.resolve()
  await stopping
  await delivery
  expect((await rows())[0]?.sent_at).toBeInstanceOf(Date)
})

test('does not send to an invalid address', async () => {
  await post('ann@example.com, eve@example.com')
  await senderOf(() => Promise.resolve()).deliverDue()
  expect(await rows()).toMatchObject([{ sent_at: null, attempts: 1 }])
  expect(failed).toHaveLength(1)
})
