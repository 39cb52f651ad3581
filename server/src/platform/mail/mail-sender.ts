import { sql, type Kysely } from 'kysely'
import { toMessage, type MailMessage } from './message'
import type { Send } from './smtp'
import type { Schema } from '../db/schema'

interface Options {
  db: Kysely<Schema>
  send: Send
  /** The pause before the second attempt; it doubles with each, up to an hour. */
  firstRetryMs?: number
  /** The timeout of one attempt; less than the first pause, after which another node may try. */
  deadlineMs?: number
  onFailure: (mailId: bigint, error: unknown) => void
  /** Reports mails that are not tried again. */
  onAbandoned: (mailIds: readonly bigint[]) => void
}

/** A mail in the outbox. */
interface Waiting {
  id: bigint
  recipient: string
  subject: string
  body: string
  created_at: Date
}

const batchSize = 4
const maxPauseSeconds = 3600
const maxErrorLength = 500
/** The time that shutdown gives to a mail that is being sent: interrupted, it might be sent twice. */
const maxStopMs = 5000

/**
 * Sends the mails in the outbox. Any number of nodes may run one: taking a mail postpones its next attempt, so that no
 * other node takes it meanwhile. A mail is sent once, unless a node ends between the mail server's acceptance and its
 * record: then once more, under the same Message-ID.
 */
export class MailSender implements AsyncDisposable {
  readonly #options: Options
  readonly #ending = new AbortController()
  #running: Promise<void> | undefined
  #isClosing = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Sends all mails that are due. Rejects when the database does not answer. */
  deliverDue(): Promise<void> {
    this.#running ??= this.#deliver().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #deliver(): Promise<void> {
    await this.#giveUp()
    let batch: readonly Waiting[]
    do {
      batch = this.#isClosing ? [] : await this.#take()
      await Promise.all(batch.map((mail) => this.#try(mail)))
    } while (batch.length === batchSize)
  }

  async #take(): Promise<Waiting[]> {
    const { db, firstRetryMs = 60_000 } = this.#options
    const { rows } = await sql<Waiting>`
      update mail set
        attempts = attempts + 1,
        next_attempt_at = now() + make_interval(
          secs => least(${maxPauseSeconds}, ${firstRetryMs / 1000} * power(2, least(attempts, 12)))
        )
      where id in (
        select id from mail
        where sent_at is null and failed_at is null and next_attempt_at <= now()
        order by next_attempt_at limit ${batchSize} for update skip locked
      )
      returning id, recipient, subject, body, created_at`.execute(db)
    return rows
  }

  async #try(mail: Waiting): Promise<void> {
    const { db, send, deadlineMs = 30_000, onFailure } = this.#options
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(deadlineMs)])
    try {
      await send(messageOf(mail), signal)
    } catch (error) {
      if (this.#ending.signal.aborted) return this.#giveBack(mail)
      onFailure(mail.id, error)
      const message = (error instanceof Error ? error.message : String(error)).slice(
        0,
        maxErrorLength,
      )
      await sql`update mail set last_error = ${message} where id = ${mail.id}`.execute(db)
      return
    }
    await sql`update mail set sent_at = now(), last_error = null where id = ${mail.id}`.execute(db)
  }

  /** Makes a mail that shutdown interrupted due at once for the next node to start. */
  async #giveBack({ id }: Waiting): Promise<void> {
    await sql`
      update mail set attempts = greatest(0, attempts - 1), next_attempt_at = now()
      where id = ${id} and sent_at is null`.execute(this.#options.db)
  }

  /** Gives up mails that were not accepted within their lifetime and have no attempt running. */
  async #giveUp(): Promise<void> {
    const { rows } = await sql<{ id: bigint }>`
      update mail set failed_at = now()
      where sent_at is null and failed_at is null and next_attempt_at <= now()
        and expires_at <= now()
      returning id`.execute(this.#options.db)
    if (rows.length > 0) this.#options.onAbandoned(rows.map(({ id }) => id))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true
    const ended = this.#running?.catch(() => undefined)
    await Promise.race([ended, Bun.sleep(maxStopMs)])
    this.#ending.abort(new Error('the server is stopping'))
    await ended
  }
}

/** The number alone would repeat in another installation with the same sender. */
const messageOf = ({ id, created_at: date, ...written }: Waiting): MailMessage =>
  toMessage(`mail-${id}.${date.getTime()}`, { ...written, date })

/** Whether a mail waits in the outbox. */
export async function isMailWaiting(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ waits: boolean }>`
    select exists (select 1 from mail where sent_at is null and failed_at is null) as waits
  `.execute(db)
  return rows[0]?.waits ?? false
}
