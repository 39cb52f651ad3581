import { afterAll, beforeAll, expect, test } from 'bun:test'
import { reportAttack } from './report'
import { startMailServer, type MailServer } from '../../api/alerts/mail-server'
import { startGateway, type Gateway } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'
import { Browser, password } from '../../harness/browser-session'

const lure = 'evil-lure.example'
let mails: MailServer
let gateway: Gateway

beforeAll(async () => {
  mails = await startMailServer()
  const environment = {
    SMTP_URL: mails.url,
    MAIL_FROM: 'Tollgate <tollgate@example.com>',
    MAIL_SECONDS: '0.1',
    // Gives each sign-up its own client address, as they are limited by address.
    TRUSTED_PROXIES: '127.0.0.0/8,::1',
  }
  gateway = await startGateway({ environment })
}, 60_000)
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await mails?.[Symbol.asyncDispose]()
})

/** Returns the whole text of a mail, decoded. */
function readable(mail: string): string {
  const joined = mail.replaceAll(/=\r?\n/g, '')
  const unwrapped = [...mail.matchAll(/(?:^[A-Za-z0-9+/]{20,}={0,2}\r?\n)+/gm)].map(([block]) =>
    Buffer.from(block.replaceAll(/\s/g, ''), 'base64').toString('utf8'),
  )
  const headers = [...mail.matchAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi)].map(([, kind, text = '']) =>
    kind?.toLowerCase() === 'b'
      ? Buffer.from(text, 'base64').toString('utf8')
      : text.replaceAll('=2E', '.'),
  )
  return [joined, ...unwrapped, headers.join('')].join('\n')
}

const names = {
  'an address in one line': `Your prize waits at https://${lure}/now`,
  'lines of its own': `Ada\n\nYour account was locked.\nUnlock it: https://${lure}\n`,
  'a header of its own': `Ada\r\nBcc: everybody@${lure}\r\n\r\nHello`,
  '60,000 characters': `${'x'.repeat(60_000)} https://${lure}`,
}

test.each(Object.entries(names).map(([words, name], at) => [words, name, at] as const))(
  'S4: a name with %s is not sent to an unconfirmed address',
  async (words, name, at) => {
    const from = { 'x-forwarded-for': `198.51.100.${at}` }
    const email = `victim-${words.replaceAll(/\W/g, '')}@example.com`
    const fields = { email, password, name }
    const browser = new Browser(gateway)
    const signedUp = await browser.send('POST /api/auth/sign-up/email', fields, from)
    expect(signedUp.status).not.toBe(429)
    // A rejected sign-up sends nothing; a reset requests another mail to the same address.
    const reset = { email, redirectTo: '/' }
    await browser.send('POST /api/auth/request-password-reset', reset, from)
    const wanted = signedUp.status === 200 ? 2 : 0
    await eventually(() => mails.to(email).length >= wanted)
    const texts = mails.to(email).map(({ text }) => readable(text))
    const isRelayed = texts.some((text) => text.includes(lure) || text.includes('x'.repeat(200)))
    reportAttack({
      attack: `Mail with words of the attacker: a sign-up name with ${words}`,
      cost: 'one request, no account',
      effect: isRelayed
        ? 'a stranger gets the attacker’s words from this installation'
        : `none: sign-up is ${signedUp.status}, ${texts.length} mails without them`,
      isHeld: !isRelayed,
    })
    expect(isRelayed).toBeFalse()
  },
  60_000,
)
