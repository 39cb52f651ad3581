import { SMTPServer } from 'smtp-server'

/** A mail as it arrived. */
export interface ReceivedMail {
  from: string
  to: string[]
  /** As it was sent, headers first. */
  text: string
  /** Whether it came through TLS. */
  isSecret: boolean
}

/** The mail to an account that an operator made: nearly every account in tests. */
const isWelcome = /^Subject: Your account is ready\r$/m

/** An SMTP server that keeps what it is given, but for links to sign in the first time. */
export interface MailServer extends AsyncDisposable {
  /** A `SMTP_URL`, with the user and password that it asks for. */
  url: string
  arrived: ReceivedMail[]
  /** Mails to an address. */
  to: (address: string) => ReceivedMail[]
  /** Of what was refused too. */
  recipients: string[]
  /** Answers RCPT TO with a temporary error for these. */
  refused: Set<string>
}

/** With a key and a certificate it is at 127.0.0.2, and offers TLS. */
export async function startMailServer(tls?: { key: Buffer; cert: Buffer }): Promise<MailServer> {
  const host = tls ? '127.0.0.2' : '127.0.0.1'
  const arrived: ReceivedMail[] = []
  const recipients: string[] = []
  const refused = new Set<string>()
  const login = { user: 'tollgate', pass: 'a pass:word/ä' }
  const server = new SMTPServer({
    ...(tls ?? { disabledCommands: ['STARTTLS'], allowInsecureAuth: true }),
    onAuth: ({ username, password }, _session, done) => {
      const isRight = username === login.user && password === login.pass
      done(isRight ? null : new Error('wrong password'), { user: login.user })
    },
    onRcptTo: ({ address }, _session, done) => {
      recipients.push(address)
      if (!refused.has(address)) return done()
      done(Object.assign(new Error('not now'), { responseCode: 451 }))
    },
    onData: (stream, { envelope, secure }, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        const to = envelope.rcptTo.map(({ address }) => address)
        const text = Buffer.concat(chunks).toString('utf8')
        if (!isWelcome.test(text)) arrived.push({ from, to, text, isSecret: secure })
        done()
      })
    },
  })
  server.on('error', () => undefined)
  const port = await listening(server, host)
  return {
    url: `smtp://${login.user}:${encodeURIComponent(login.pass)}@${host}:${port}`,
    arrived,
    to: (address) => arrived.filter((mail) => mail.to.includes(address)),
    recipients,
    refused,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

const listening = (server: SMTPServer, host: string) =>
  new Promise<number>((resolve) => {
    const { server: socket } = server
    server.listen(0, host, () => {
      const address = socket.address()
      if (address === null || typeof address === 'string') throw new Error('no port')
      resolve(address.port)
    })
  })
