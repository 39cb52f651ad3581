import type { SQL } from 'bun'
import { startMailServer, type MailServer } from './mail-server'
import { call } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import type { Answer, Json } from '../../harness/http'
import { startRig, type Customer, type Rig } from '../../harness/server'
import { eventuallyReads } from '../../../server/testing/eventually'

/** A gateway that looks at alerts and mails all the time, and the mail server it knows. */
export interface Fixture extends AsyncDisposable {
  rig: Rig
  mails: MailServer
  sql: SQL
  api: (by: Customer, request: string, body?: Json) => Promise<Answer>
  /** The e-mail address of an account. */
  emailOf: (customer: Customer) => Promise<string>
}

export async function createFixture(environment: Record<string, string> = {}): Promise<Fixture> {
  await using opening = new AsyncDisposableStack()
  const mails = opening.use(await startMailServer())
  const rig = opening.use(
    await startRig({
      environment: {
        SMTP_URL: mails.url,
        MAIL_FROM: 'Tollgate <tollgate@gate.example>',
        MAIL_SECONDS: '0.1',
        ALERT_SECONDS: '0.2',
        LOG_LEVEL: 'info',
        ...environment,
      },
    }),
  )
  const sql = opening.use(await openDatabase(rig.gateway.dataDir))
  const open = opening.move()
  return {
    rig,
    mails,
    sql,
    api: (by, request, body) => call(rig.gateway, by, request, body),
    emailOf: async ({ userId }) => {
      const [row] = await sql`select email from users where id = ${userId}`
      return String(row.email)
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

/** Asks until something is there, within what a slow machine needs. */
export async function waitFor<Found>(ask: () => Promise<Found | undefined>): Promise<Found> {
  return eventuallyReads(ask, (found) => found !== undefined)
}

/** A list in an answer. */
export function listIn({ status, text, body }: Answer, name: string): Json[] {
  const list: unknown = body[name]
  if (!Array.isArray(list)) throw new Error(`${status}: no ${name} in ${text}`)
  return list
}
