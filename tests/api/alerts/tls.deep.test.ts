import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { startMailServer, type MailServer } from './mail-server'
import { waitFor } from './fixture'
import { authority } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { newDataDir, startGateway } from '../../harness/server'

let mails: MailServer
let dataDir: string

beforeAll(async () => {
  const key = readFileSync(authority.replace('local.pem', 'local.key'))
  mails = await startMailServer({ key, cert: readFileSync(authority) })
  dataDir = await newDataDir()
})
afterAll(async () => {
  await mails[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

const start = (trusted: Record<string, string>) =>
  startGateway({
    dataDir,
    environment: {
      SMTP_URL: mails.url,
      MAIL_FROM: 'tollgate@gate.example',
      MAIL_SECONDS: '0.1',
      ...trusted,
    },
  })

test('mails and the password go through TLS, to a server whose certificate is known', async () => {
  const recipient = 'ann@example.com'
  {
    await using gateway = await start({})
    await using sql = await openDatabase(gateway.dataDir)
    await sql`insert into mail (recipient, subject, body) values (${recipient}, 'Hello', 'Text')`
    const error = await waitFor(async () => {
      const [row] = await sql`select last_error from mail`
      return row.last_error === null ? undefined : String(row.last_error)
    })
    expect(error).toContain('certificate')
    expect(mails.recipients).toEqual([])
  }
  await using gateway = await start({ NODE_EXTRA_CA_CERTS: authority })
  await using sql = await openDatabase(gateway.dataDir)
  // Here, as the first would have tried once more before it stopped.
  await sql`update mail set next_attempt_at = now()`
  const mail = await waitFor(async () => mails.to(recipient)[0])
  expect(mail.isSecret).toBe(true)
  expect(gateway.output()).not.toContain('a pass:word')
})
