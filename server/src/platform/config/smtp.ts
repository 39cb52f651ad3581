import { z } from 'zod'

/** The server that mails are submitted to. */
interface SmtpServer {
  host: string
  port: number
  /** TLS from the first byte; otherwise the connection is upgraded by STARTTLS. */
  isSecure: boolean
  login: { user: string; password: string } | undefined
}

/** The sender of mails; the name may be empty. */
interface MailSender {
  name: string
  address: string
}

/** The settings of outgoing mail; undefined without a server: mails then wait in the queue. */
export interface MailConfig {
  server: SmtpServer
  from: MailSender
}

/** Parses `smtp://` or `smtps://`, with user and password if the server requires them. */
export const Smtp = z.url({ protocol: /^smtps?$/ }).transform((text, context): SmtpServer => {
  const url = new URL(text)
  const isSecure = url.protocol === 'smtps:'
  if (url.search || url.hash) context.addIssue('must end with the port: it takes no parameters')
  try {
    const [user, password] = [url.username, url.password].map(decodeURIComponent)
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: Number(url.port) || (isSecure ? 465 : 587),
      isSecure,
      login: user ? { user, password: password ?? '' } : undefined,
    }
  } catch {
    context.addIssue('must have user and password percent-encoded')
    return z.NEVER
  }
})

export const senderAdvice =
  'must be an address, or a name and <address>: Tollgate <tollgate@example.com>'

/** Parses `<address>`, or `<name> <<address>>`. */
export const Sender = z.string().transform((text, context): MailSender => {
  const [, name = '', inner] = /^([^<>\p{Cc}]*)<([^<>]*)>$/u.exec(text.trim()) ?? []
  const address = z.email().safeParse((inner ?? text).trim())
  if (!address.success) context.addIssue(senderAdvice)
  return { name: name.replaceAll('"', '').trim(), address: address.data ?? '' }
})

/** Returns the settings of outgoing mail; undefined without a server, or without a sender. */
export const toMailConfig = ({
  server,
  sender,
}: {
  server: SmtpServer | undefined
  sender: MailSender | undefined
}): MailConfig | undefined => server && sender && { server, from: sender }
