import { createServer, connect, type Server, type Socket } from 'node:net'
import { delayedSender } from '../harness/delayed-sender'

/** A way to PostgreSQL through the test: it sees what is asked, loses what it should, and can be cut. */
export interface DatabaseWire extends AsyncDisposable {
  /** For a wire on TCP. */
  port: number
  /** Texts of all statements since the last call. */
  statements: () => string[]
  /** Loses notifications from now on, or no longer. */
  deafen: (isDeaf: boolean) => void
  /** Each direction is late by so many milliseconds from now on. */
  delay: (delayMs: number) => void
  /**
   * What becomes of the next commit of usage: done, but its client hears of a lost connection instead;
   * or the same with the commit done only `lateMs` later, when it has been sent again.
   */
  loseCommit: (fate: LostCommit) => void
  /** How many were lost so since the start. */
  lostCommits: () => number
  /** Ends all connections and takes no new ones until it is mended. */
  cut: () => void
  mend: () => void
}

export type LostCommit = { lateMs: number }

/** Where to listen, or what to connect to. */
export type ListenAddress = { port: number } | { path: string }

const lengthAt = (bytes: Buffer, at: number) => bytes.readInt32BE(at)

/** Splits a stream into messages; the first of a client has no type. */
function splitter(onMessage: (message: Buffer) => void, startsUntyped: boolean) {
  let rest: Buffer = Buffer.alloc(0)
  let isUntyped = startsUntyped
  return (bytes: Buffer) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    for (;;) {
      const head = isUntyped ? 0 : 1
      if (rest.length < head + 4) return
      const size = head + lengthAt(rest, head)
      if (rest.length < size) return
      onMessage(rest.subarray(0, size))
      rest = rest.subarray(size)
      isUntyped = false
    }
  }
}

/** The text of a Parse or a Query; undefined for any other message. */
function statementOf(message: Buffer): string | undefined {
  const type = String.fromCharCode(message[0] ?? 0)
  if (type !== 'P' && type !== 'Q') return undefined
  const start = type === 'P' ? message.indexOf(0, 5) + 1 : 5
  return message.toString('utf8', start, message.indexOf(0, start))
}

const isNotification = (message: Buffer) => message[0] === 'A'.charCodeAt(0)

interface State {
  open: Set<Socket>
  texts: string[]
  isDeaf: boolean
  isCut: boolean
  delayMs: number
  nextCommit: LostCommit | undefined
  lostCommits: number
}

const booksUsage = /(?:insert into|copy) usage_event/

function join(near: Socket, target: ListenAddress, state: State): void {
  if (state.isCut) {
    near.destroy()
    return
  }
  const far = connect(target)
  const ends = [near, far]
  // A client whose commit is lost has gone, its server goes on.
  let isLosing = false
  const end = () => {
    for (const socket of ends) {
      if (isLosing && socket === far) continue
      state.open.delete(socket)
      socket.destroy()
    }
  }
  const lose = (commit: Buffer, { lateMs }: LostCommit) => {
    isLosing = true
    state.nextCommit = undefined
    state.lostCommits += 1
    near.destroy()
    setTimeout(() => far.end(commit), lateMs)
  }
  const sendToServer = delayedSender((message) => far.write(message), state)
  const sendToClient = delayedSender((message) => near.write(message), state)
  for (const socket of ends) {
    state.open.add(socket)
    socket.on('error', end)
    socket.on('close', end)
  }
  let isFirst = true
  let hasBooked = false
  const fromClient = splitter((message) => {
    const text = isFirst ? undefined : statementOf(message)
    isFirst = false
    if (text === 'commit' && hasBooked && state.nextCommit)
      return lose(Buffer.from(message), state.nextCommit)
    if (text !== undefined) {
      state.texts.push(text)
      hasBooked = booksUsage.test(text) || (hasBooked && text !== 'commit')
    }
    sendToServer(message)
  }, true)
  const fromServer = splitter((message) => {
    if (!(state.isDeaf && isNotification(message))) sendToClient(message)
  }, false)
  near.on('data', fromClient)
  far.on('data', fromServer)
}

/** Starts a wire to a PostgreSQL; without `at` on a free port. */
export async function startDatabaseWire(
  target: ListenAddress,
  at: ListenAddress = { port: 0 },
): Promise<DatabaseWire> {
  const state: State = {
    open: new Set(),
    texts: [],
    isDeaf: false,
    isCut: false,
    delayMs: 0,
    nextCommit: undefined,
    lostCommits: 0,
  }
  const server: Server = createServer((near) => join(near, target, state))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    const where = 'path' in at ? at : { ...at, host: '127.0.0.1' }
    server.listen(where, () => resolve())
  })
  const address = server.address()
  const endAll = () => {
    for (const socket of state.open) socket.destroy()
  }
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    statements: () => state.texts.splice(0),
    deafen: (isDeaf) => {
      state.isDeaf = isDeaf
    },
    delay: (delayMs) => {
      state.delayMs = delayMs
    },
    loseCommit: (fate) => {
      state.nextCommit = fate
    },
    lostCommits: () => state.lostCommits,
    cut: () => {
      state.isCut = true
      endAll()
    },
    mend: () => {
      state.isCut = false
    },
    async [Symbol.asyncDispose]() {
      endAll()
      server.close()
    },
  }
}
