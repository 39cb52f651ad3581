import type { Adapter, UpstreamRequest } from './adapter'
import type { MediaData } from './media'
import type { ErrorSource } from './upstream-error'
import type { JsonObject } from '../wire/json-body'
import type { OutgoingContent } from '../wire/outgoing-content'
import type { Usage } from '../wire/usage'

/** The fields of a request for images that providers' own formats have a counterpart for. */
export interface ImageWish {
  prompt: string
  size?: string | null | undefined
  quality?: string | null | undefined
  output_format?: 'png' | 'jpeg' | 'webp' | null | undefined
  output_compression?: number | null | undefined
  input_fidelity?: 'high' | 'low' | null | undefined
}

/** The model that makes images, and how many of them one request to it gets. */
export interface ImageTarget {
  /** The provider's own name of the model. */
  upstreamModel: string
  count: number
  /** The tokens of one image that the hold pays for. */
  maxTokensPerImage: number
  /** The images that are changed or varied; none where a new one is made. */
  inputs: readonly MediaData[]
  /** The image is varied: there is no prompt. */
  isVariation: boolean
}

/** An image of an answer: its data in base64, or the address from which it can be fetched. */
export interface MadeImage {
  b64_json?: string
  url?: string
  revised_prompt?: string
}

/** An answer in all formats. */
export interface ImageAnswer {
  images: MadeImage[]
  usage: Usage | undefined
  /** The size and the quality that the provider reports. */
  size?: string | undefined
  quality?: string | undefined
  /** Other fields of the answer, for the caller. */
  fields?: Readonly<Record<string, unknown>>
}

/** The task that a provider made of a request: its images are ready some time after its first answer. */
export interface ImageTask {
  /** The request for its state, which is sent again while it is pending. */
  request: { url: string; method: 'GET' | 'POST'; body: JsonObject }
  /** Whether an answer to that says that the provider still works on it. */
  isPending: (answer: unknown) => boolean
  /** Reads the last answer. Throws as `ImageAdapter.read`. */
  read: (answer: unknown) => ImageAnswer
}

/** The address of the connection that a task was sent to. */
export interface TaskContext {
  source: ErrorSource
  /** The upstream name of the task's model. */
  upstreamModel: string
  /** The base URL of the connection. */
  address: string
  /** The provider's own base URL; null where each connection brings its own. */
  ownAddress: string | null
}

/** A request for images as the provider takes it: JSON, or a form that is written of the same fields. */
export interface ImageUpstreamRequest extends UpstreamRequest {
  toContent?: (body: JsonObject) => OutgoingContent
}

/** Writes and reads requests for images in one dialect: pure. The caller of the adapter splits, joins and counts. */
export interface ImageAdapter {
  /** The most images of one request. */
  batchLimit: (upstreamModel: string) => number
  /** Whether a model takes images to change. */
  edits: (upstreamModel: string) => boolean
  /** Whether a model takes an image to vary, without a prompt; absent where none does. */
  varies?: (upstreamModel: string) => boolean
  /** Throws `invalid_request`, issue `unsupported_by_model`, for fields whose loss would change the meaning. */
  request: (wish: ImageWish, target: ImageTarget) => ImageUpstreamRequest
  /** Translates a refusal for the caller. */
  toError: Adapter['toError']
  /** Whether a model's images are tasks; absent where none are. */
  makesTasks?: (upstreamModel: string) => boolean
  /** Reads the answer of a model whose images are tasks. Throws `provider_error`. */
  task?: (answer: unknown, context: TaskContext) => ImageTask
  /** Throws `provider_error`, and `invalid_request` for a prompt that was filtered. */
  read: (answer: unknown, source: ErrorSource) => ImageAnswer
}
