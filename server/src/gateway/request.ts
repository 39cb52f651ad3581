import type { Credentialed } from '../auth/authenticator'
import type { Principal } from '../auth/principal'
import type { StoredAnswer } from '../idempotency/store'
import type { RequestTrace } from '../request-logs/arrival'
import type { Identity } from '../wire/answer'
import type { ChunkStream } from '../wire/chunk-stream'
import type { EventWriter } from '../wire/event-writer'
import type { JsonObject, ReadBody } from '../wire/json-body'
import type { Pause } from '../wire/json-slices'
import type { FormLimits, UploadedFile } from '../wire/uploaded-file'
import type { Usage } from '../wire/usage'

/** One request to a model endpoint, as it arrived. */
export interface InboundRequest extends Credentialed {
  requestId: string
  /** The account of the sender, once that is known. */
  owner?: string | undefined
  /** The number of Tollgate instances that have forwarded it. */
  hops: number
  /** Its path, and the client that sent it. */
  endpoint: string
  userAgent: string
  /**
   * Called only after the key was accepted; `onText` gets the text as it came. A large body waits until there is room
   * for the account. Rejects with `invalid_request` and `gateway_unavailable`.
   */
  readBody: (
    limitBytes: number,
    accountId: string,
    onText?: (text: string) => void,
  ) => Promise<ReadBody>
  /** Whether its body is a form, or JSON, by its content type. */
  readonly isForm?: boolean
  readonly isJson?: boolean
  /**
   * Called in place of `readBody` for a form, whose files are kept on disk until `upload` is disposed of. Rejects likewise.
   * Absent where no request can have files.
   */
  readForm?: (limits: FormLimits, accountId: string) => Promise<ReadBody>
  /**
   * Writes a file that came within the body to disk, until `upload` is disposed of. Rejects as its pieces do, and with
   * `gateway_unavailable`. Absent where no request can have files.
   */
  storeFile?: (
    file: Pick<UploadedFile, 'name' | 'type' | 'bytes'>,
    pieces: Iterable<Uint8Array>,
  ) => Promise<UploadedFile>
  /** The files of the request; disposing of them never rejects, and twice is harmless. */
  upload?: AsyncDisposable | undefined
  /**
   * Reads so many bytes more that belong to its body, once there is room for them, in slices of its owner's share of the
   * event loop: `read` calls `pause` after each. Rejects as `read` does, and with `gateway_unavailable`. Absent where nothing but the body is read.
   */
  readMore?: <Read>(bytes: number, read: (pause: Pause) => Promise<Read>) => Promise<Read>
  /** Set where its body is large: released once that was sent on. */
  body?: { release: () => void } | undefined
  /** Aborts when the client has disconnected. */
  signal: AbortSignal
  /** Set where the caller is already authenticated and permitted: then no key is checked. */
  principal?: Principal | undefined
  /** The only connection that may serve it. */
  connectionId?: string | undefined
  /** Called once, however it has ended: with the usage, and the cost in nano-dollars. */
  onSettled?: ((usage: Usage | undefined, cost: bigint) => void) | undefined
  /** Lifetime of the prompt-cache breakpoints that are set for it, or `off`; as its caller wrote it. */
  readonly promptCaching?: string | null | undefined
  /** Tags of it, separated by commas; as its caller wrote them. */
  readonly tags?: string | null | undefined
  /** Set once its end will be in the log. */
  hasLog?: boolean
  /** Follows it, where it is traced. */
  trace?: RequestTrace | undefined
  /** Called when waiting for a provider begins, and when it ends. */
  onWaiting?: (isWaiting: boolean) => void
  /** Set where a request may continue answers that are stored here. */
  history?: RequestHistory | undefined
  /** Set where a repeat of the request gets its answer; a disconnect does not end it. */
  repeatable?: Repeatable | undefined
}

/** The stored answers that a request may continue. */
export interface RequestHistory {
  /** The number of bytes of it that are to be read; 0 where there is none. */
  unreadBytes: (userId: string, body: JsonObject) => number | Promise<number>
  /** Returns the request with the history in its input; calls `pause` between slices of parsing it. */
  expand: (userId: string, requestBody: ReadBody, pause?: Pause) => ReadBody | Promise<ReadBody>
}

/** A request that its caller named by an `Idempotency-Key`. Source: contract 4.9. */
export interface Repeatable {
  /**
   * Undefined when this request is the one to run, else the answer of the first. Rejects with `invalid_request`,
   * `request_timeout` and `gateway_unavailable`.
   */
  claim: (userId: string, body: JsonObject) => Promise<StoredAnswer | undefined>
  /** A provider is about to be called: from here on every answer is kept. */
  onDispatched: () => void
}

/** An answer on its way to the caller. */
export type Reply = FullReply | StreamReply

/** The answer of an earlier request, for its repeat. */
export interface RecordedReply {
  kind: 'recorded'
  answer: StoredAnswer
}

export interface FullReply {
  kind: 'full'
  body: object
  /** The answer where that is no JSON; the body is its content all the same. */
  text?: { type: string; content: string } | undefined
  /** The body is in its caller's format already, where that is not ours. */
  isEncoded?: boolean
  usage: Usage
  /** Nano-dollars, once the request was settled. */
  cost?: bigint
  /** The memory that it takes, until it is sent; set where it is large. */
  heldMemory?: Disposable | undefined
  /** Key of the provider that answered; empty where none has yet. */
  provider: string
  /** Fields of the request that were ignored. */
  omittedFields?: readonly string[] | undefined
  /** The output limit that was sent to the model, where that is not the caller's. */
  outputLimit?: number | undefined
}

export interface StreamReply {
  kind: 'stream'
  identity: Identity
  /** Set where its events are not the chunks themselves. */
  writer?: EventWriter
  /** Set where it is sound, which logs do not keep: as bytes, or in events. */
  sound?: 'bytes' | 'events'
  /** Settles with the first good event, or with the failure before it. */
  opening: Promise<OpenStream>
}

export interface OpenStream {
  stream: ChunkStream
  provider: string
  /** The output limit that was sent to the model, where that is not the caller's. */
  outputLimit?: number | undefined
  /** The stream gives whole frames in its caller's format. */
  isEncoded?: boolean
  /** The content type of an answer that is sent as bytes. */
  contentType?: string | undefined
  /** Fields of the request that are ignored. */
  omittedFields?: readonly string[] | undefined
  /** The usage so far; complete once the stream has ended. */
  usage: () => Usage | undefined
  /**
   * The usage of a stream that `failure` broke. Where none of its content had come, the request is one without an
   * answer: then that is recorded, and there is no usage. Called once.
   */
  usageAfter: (failure: unknown) => Usage | undefined
  /** The client has disconnected; the provider's answer is aborted, or read to the end. Once. */
  detach: () => DetachedStream
}

/** The rest of a stream whose client has disconnected; to be disposed of when it is settled. */
export interface DetachedStream extends Disposable {
  /** Resolves when nothing more comes; undefined where that is so at once. */
  rest: Promise<void> | undefined
  /** The provider bills nothing of it. */
  isFree: boolean
}
