import type { Socket } from 'bun'
import { type Bill, billOf } from './bill'
import type { CatalogueModel } from './catalogue'
import { Connection, PeerGone } from './connection'
import { answer } from './dispatch'
import { type Log, type LoggedRequest, emptyLog, clearLog } from './log'
import { type Recording, replayBehaviour } from './recording'
import { type RawRequest, requestParser } from './request-parser'
import { eventually } from '../../../server/testing/eventually'

/** A running fake provider: the oracle of what an upstream was asked, sent and charged. */
export interface FakeProvider extends AsyncDisposable {
  /** Base URL with `/v1`, loopback only. */
  url: string
  port: number
  /** What was charged, of one model name or of all. */
  bill: (model?: string) => Bill
  /** Requests so far, oldest first; the steering calls are not among them. */
  requests: () => LoggedRequest[]
  /** How many there are, without reading them. */
  requestCount: () => number
  openSockets: () => number
  /** Makes a model name answer with recorded bytes. */
  serve: (model: string, recording: Recording | string | Uint8Array) => void
  setCatalogue: (models: CatalogueModel[]) => void
  /** The number of answers of `held`, `held-first` and `held-event` that wait for `release`. */
  heldCount: () => number
  /** Lets those go on. */
  release: () => void
  /** The same, once so many wait. */
  releaseHeld: (count?: number) => Promise<void>
  /** Forgets requests, bills and the age of models; recordings and catalogue stay. */
  reset: () => void
}

/** What hangs on each socket. */
interface Caller {
  connection: Connection
  push: (bytes: Buffer) => RawRequest[]
  /** Requests that wait for the one before them, undefined while none is being answered. */
  waiting: RawRequest[] | undefined
}

/** Answers a connection's requests one after the other, as HTTP/1.1 wants it. */
async function serve(log: Log, caller: Caller, requests: RawRequest[]): Promise<void> {
  if (caller.waiting) {
    caller.waiting.push(...requests)
    return
  }
  caller.waiting = requests
  try {
    for (let next = requests.shift(); next; next = requests.shift()) {
      await answer(log, next, caller.connection)
    }
  } catch (thrown) {
    if (!(thrown instanceof PeerGone)) {
      console.error('The fake provider failed:', thrown)
      caller.connection.reset()
    }
  } finally {
    caller.waiting = undefined
  }
}

function listen(log: Log, port: number) {
  const open = new Set<Connection>()
  const part = (socket: Socket<Caller>) => {
    socket.data.connection.markClosed('peer')
    open.delete(socket.data.connection)
  }
  const listener = Bun.listen<Caller>({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        const connection = new Connection(socket)
        open.add(connection)
        socket.data = { connection, push: requestParser().push, waiting: undefined }
      },
      data({ data }, bytes) {
        const requests = data.push(bytes)
        if (requests.length > 0) void serve(log, data, requests)
      },
      drain: ({ data }) => data.connection.drain(),
      close: part,
      error: part,
    },
  })
  return { listener, open }
}

/**
 * Starts a fake provider of OpenAI's format on a free port of the loopback interface, or on `port`.
 * A model's name chooses how it behaves: `<behaviour>[-<argument>][~<tag>][+<billing>]`.
 */
export async function startFakeProvider({ port = 0 } = {}): Promise<FakeProvider> {
  const log = emptyLog()
  const { listener, open } = listen(log, port)
  return {
    url: `http://127.0.0.1:${listener.port}/v1`,
    port: listener.port,
    bill: (model) => billOf(log.attempts, log.catalogue, model),
    requests: () => log.requests.map((read) => read()),
    requestCount: () => log.requests.length,
    openSockets: () => open.size,
    serve: (model, recording) => void log.recordings.set(model, replayBehaviour(recording)),
    setCatalogue: (models) => {
      log.catalogue = models
    },
    heldCount: log.held.heldCount,
    release: log.held.release,
    async releaseHeld(count = 1) {
      await eventually(() => log.held.heldCount() === count)
      log.held.release()
    },
    reset: () => clearLog(log),
    async [Symbol.asyncDispose]() {
      for (const connection of open) connection.reset()
      listener.stop(true)
    },
  }
}
