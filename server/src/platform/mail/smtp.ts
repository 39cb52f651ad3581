import type { MailMessage } from './message'
import type { MailConfig } from '../config/smtp'

/** Hands a mail to the delivering server. Rejects where the server did not accept it, or once `signal` aborts. */
export type Send = (message: MailMessage, signal: AbortSignal) => Promise<void>

const stepMs = 10_000
const isLoopback = (host: string) => /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)

/** Opens no connection. Loads the client with the first mail, as it takes 4 MB. */
async function transportTo({ server }: MailConfig) {
  const { host, port, isSecure, login } = server
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host,
    port,
    secure: isSecure,
    // A password is only sent encrypted, except on loopback.
    requireTLS: login !== undefined && !isLoopback(host),
    ...(login && { auth: { user: login.user, pass: login.password } }),
    dnsTimeout: stepMs,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    // No field of a mail may name a file or a URL to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** Verifies the mail server: connects and signs in, sends nothing. Rejects where either fails. */
export async function verifyServer(config: MailConfig): Promise<void> {
  const transport = await transportTo(config)
  await transport.verify()
}

/** Sends mails over SMTP, each on a connection of its own, so that an abort closes it. */
export function createSmtpMailer(config: MailConfig): Send {
  const { from } = config
  return async ({ id, recipient, subject, text, date }, signal) => {
    const transport = await transportTo(config)
    await transport.sendMail({
      from,
      // As separate fields, neither is parsed as a list of addresses.
      to: { name: '', address: recipient },
      envelope: { from: from.address, to: [recipient] },
      subject,
      text,
      date,
      messageId: `<${id}@${from.address.split('@').at(-1)}>`,
      headers: { 'auto-submitted': 'auto-generated' },
      signal,
    })
  }
}
