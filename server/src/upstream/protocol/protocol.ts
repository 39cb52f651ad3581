import type { Adapter } from '../../providers/adapter'
import type { RelayedStream, RelayRequest } from '../../providers/openai/relayed-stream'
import type { CompleteAnswer } from '../../providers/openai/whole-answer'
import type { ErrorSource, UpstreamFailure } from '../../providers/upstream-error'
import type { ApiError } from '../../errors'
import type { JsonObject } from '../../wire/json-body'
import type { OutgoingContent } from '../../wire/outgoing-content'

/** An operation of the OpenAI format. */
export type Operation =
  | 'chat'
  | 'completions'
  | 'embeddings'
  | 'moderations'
  | 'rerank'
  | 'images'
  | 'speech'
  | 'transcriptions'
  | 'translations'
  | 'responses'

/** A request to a provider, without the connection's address and credential. */
export interface OutgoingRequest {
  operation: Operation
  body: JsonObject
  /** Sent in place of `body`: a form with files, or a file alone. */
  content?: OutgoingContent | undefined
  /** Writes `body` in another form than JSON, once it has its identifiers. */
  toContent?: (body: JsonObject) => OutgoingContent
  /** The path that differs from the operation's own; a path in the provider's options takes precedence. */
  path?: string | undefined
  /** The path on the server of a self-hosted gateway, where it is neither the provider's nor the operation's own. */
  tunnelPath?: string | undefined
  /** `GET` for a request without a body; `POST` where absent. */
  method?: 'GET' | 'POST' | undefined
  /** The whole URL, where it is no path below the connection's. */
  url?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** The caller's headers that belong to a body which is passed through. */
  forwarded?: Readonly<Record<string, string>> | undefined
}

/**
 * The exchange with a provider: the request, and how its responses are read. There are four: `RelayProtocol`,
 * `TranslateProtocol`, `PassthroughProtocol` and `SpeechProtocol`.
 */
export interface UpstreamProtocol {
  /** The request to send: once it is replaced, the one in its place. */
  readonly request: OutgoingRequest
  /** The facts about the provider and the request that its errors are translated by. */
  readonly source: ErrorSource
  readonly framing: Adapter['framing']
  /** Translates an error response for the caller. */
  toError: (refusal: UpstreamFailure) => ApiError
  /** The events that a whole answer stands for, which came in place of a stream; absent where none is requested. */
  toEvents?: (answer: JsonObject) => readonly JsonObject[]
  /**
   * Tells the form of an answer by its content type, where its first bytes show nothing; undefined for a type that is
   * none of the expected ones.
   */
  readForm?: (type: string) => 'events' | 'json' | 'sound' | undefined
  /** Replaces a refused request, once. Returns false where the refusal stands. */
  replaceRefused: (refusal: UpstreamFailure) => boolean
}

/** An exchange whose answer is streamed to the caller. */
export interface StreamProtocol extends UpstreamProtocol {
  /** Fields of the request that are ignored; the caller is notified of them. */
  readonly omitted: readonly string[]
  /** The answer is in the caller's format already, where that is not OpenAI's. */
  readonly isEncoded: boolean
}

/** The exchange of a chat, whose answers become those of the caller. */
export interface ChatProtocol extends StreamProtocol {
  /** Name of a tool at the provider -> the caller's name of it, where they differ. */
  readonly callerNames: ReadonlyMap<string, string> | undefined
  /** The provider streams the answer even where the caller wants it whole. */
  readonly streamsOnly: boolean
  /** Starts reading a stream. */
  stream: (facts: RelayRequest) => RelayedStream
  /** The whole answer that the frames of its stream stand for; undefined where its chunks are OpenAI's. */
  readonly collect: ((frames: readonly string[]) => JsonObject) | undefined
  /** Reads a whole answer. Throws where it is none. */
  complete: (answer: unknown, facts: RelayRequest) => CompleteAnswer
}
