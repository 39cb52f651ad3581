import { toChat } from './chat'
import { toCallerField } from './field-name'
import { hostedUsesIn } from './hosted-uses'
import { isFree, toPriced } from './priced-request'
import { ResponsesRequest } from './request'
import { toUnstored } from './unstored'
import { withOwnThoughts } from './thoughts'
import { errorFormat } from './error-format'
import { ResponseWriter, toCompleteResponse } from './writer'
import { check } from '../../wire/json-body'
import type { Dialect } from '../dialect'
import { pickHeaders } from '../pick-headers'

/** Headers that tell OpenAI the form of a body. */
const forwardedHeaders = ['openai-beta', 'x-openai-internal-codex-responses-lite']

/** Facts about a request that are known once it is read. */
interface ResponsesMode {
  /** Tollgate stores its answer, on whatever connection it is made. */
  readonly isBackground: boolean
  /** Its answer contains the thoughts that the next request sends back. */
  readonly keepsThoughts: boolean
}

/** OpenAI's Responses, for a request with these headers. Source: contract 5.2. */
export const responses = (headers: Headers, mode?: ResponsesMode): Dialect => ({
  errorFormat,
  read(body) {
    const request = check(ResponsesRequest, body)
    const { chat, tools, omitted, refusal } = toChat(request)
    const uses = hostedUsesIn(body, isFree)
    const missingFields = new Set(omitted)
    const offered = request.tools?.filter(
      (_tool, index) => !missingFields.has(`tools.${index}.type`),
    )
    // An answer does not repeat its input, and a long stream need not hold it.
    const keepsThoughts = mode?.keepsThoughts === true
    const echoed = { request: { ...request, input: '', tools: offered }, tools, keepsThoughts }
    return {
      chat,
      original: {
        format: 'responses',
        body: withOwnThoughts(body),
        headers: pickHeaders(headers, forwardedHeaders),
        ...(mode?.isBackground && { own: toUnstored }),
        paid: toPriced,
        hosted: ({ search }) => (search === undefined ? undefined : uses),
      },
      refusal,
      omitted,
      callersField: toCallerField,
      answer: (completion) => toCompleteResponse(echoed, completion),
      writer: (identity) => new ResponseWriter(echoed, identity),
    }
  },
})
