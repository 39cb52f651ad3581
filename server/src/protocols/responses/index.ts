import { toChat } from './chat'
import { toCallerField } from './field-name'
import { hostedUsesIn } from './hosted-uses'
import { isFree, toPriced } from './priced-request'
import { ResponsesRequest } from './request'
import { toShared, toUnstored } from './shared-request'
import { withOwnThoughts } from './thoughts'
import { wording } from './error-format'
import { ResponseWriter, toWholeResponse } from './writer'
import { check } from '../../wire/json-body'
import type { Dialect } from '../dialect'

/** Headers that tell OpenAI the form of a body. */
const ownHeaders = ['openai-beta', 'x-openai-internal-codex-responses-lite']

const headersOf = (headers: Headers) =>
  Object.fromEntries(
    ownHeaders.flatMap((name) => {
      const value = headers.get(name)
      return value ? [[name, value]] : []
    }),
  )

/** Facts about a request that are known once it is read. */
interface Asking {
  /** Tollgate stores its answer, on whatever connection it is made. */
  readonly isBackground: boolean
}

/** OpenAI's Responses, for a request with these headers. Source: contract 5.2. */
export const responses = (headers: Headers, asking?: Asking): Dialect => ({
  wording,
  read(body) {
    const request = check(ResponsesRequest, body)
    const { chat, tools, omitted, refusal } = toChat(request)
    const uses = hostedUsesIn(body, isFree)
    const missing = new Set(omitted)
    const offered = request.tools?.filter((_tool, index) => !missing.has(`tools.${index}.type`))
    // An answer does not repeat its input, and a long stream need not hold it.
    const asked = { request: { ...request, input: '', tools: offered }, tools }
    return {
      chat,
      original: {
        format: 'responses',
        body: withOwnThoughts(body),
        headers: headersOf(headers),
        shared: toShared,
        ...(asking?.isBackground && { own: toUnstored }),
        paid: toPriced,
        hosted: ({ search }) => (search === undefined ? undefined : uses),
      },
      refusal,
      omitted,
      callersField: toCallerField,
      answer: (completion) => toWholeResponse(asked, completion),
      writer: (identity) => new ResponseWriter(asked, identity),
    }
  },
})
