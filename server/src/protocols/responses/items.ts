import { z } from 'zod'
import { imageAddress } from '../../wire/chat-request'
import { broken } from '../../wire/field-error'
import { maxParts, maybe } from '../../wire/fields'
import { unpackCallId } from '../../wire/packed-call-id'

const words = z.string()

const Image = z
  .looseObject({
    type: z.literal('input_image'),
    image_url: maybe(imageAddress),
    file_id: maybe(words),
    detail: maybe(z.enum(['auto', 'low', 'high', 'original'])),
  })
  .superRefine(({ image_url: url, file_id: id }, ctx) => {
    if (url) return
    const kept = 'no files are kept here. Send the image as image_url.'
    if (id) ctx.addIssue(broken('not_allowed', kept, ['file_id']))
    else ctx.addIssue(broken('required', 'this field is required.', ['image_url']))
  })

const File = z
  .looseObject({
    type: z.literal('input_file'),
    file_data: maybe(words),
    file_id: maybe(words),
    file_url: maybe(words),
    filename: maybe(words),
  })
  .superRefine(({ file_data: data, file_id: id, file_url: url }, ctx) => {
    if (data || id) return
    const fetched = 'files are not fetched here. Send the file as file_data.'
    if (url) ctx.addIssue(broken('not_allowed', fetched, ['file_url']))
    else ctx.addIssue(broken('required', 'this field is required.', ['file_data']))
  })

const Text = z.looseObject({
  type: z.enum(['input_text', 'output_text', 'text']),
  text: words,
})

const Content = z.discriminatedUnion('type', [
  Text,
  z.looseObject({ type: z.literal('refusal'), refusal: words }),
  Image,
  File,
  z.looseObject({
    type: z.literal('input_audio'),
    input_audio: z.looseObject({ data: words, format: z.enum(['wav', 'mp3']) }),
  }),
])
export type Content = z.output<typeof Content>

const ToolOutput = z.union([
  words,
  z.array(z.discriminatedUnion('type', [Text, Image, File])).max(maxParts),
])

// A signature that Tollgate packed into it is as long as its provider likes.
const callId = z
  .string()
  .min(1)
  .refine((id) => unpackCallId(id).length <= 256, {
    params: { issue: 'too_long' },
    message: 'must have a length of at most 256.',
  })

const name = z.string().min(1)
const namespace = maybe(words)
const tools = z.array(z.looseObject({}))

/** The items that are translated; for any other provider than OpenAI all others are refused. */
export const ResponsesItem = z.discriminatedUnion('type', [
  z.looseObject({
    type: maybe(z.literal('message')),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.union([words, z.array(Content).max(maxParts)]),
  }),
  z.looseObject({
    type: z.literal('function_call'),
    call_id: callId,
    name,
    namespace,
    arguments: words,
  }),
  z.looseObject({
    type: z.literal('custom_tool_call'),
    call_id: callId,
    name,
    namespace,
    input: words,
  }),
  z.looseObject({
    type: z.literal('shell_call'),
    call_id: callId,
    action: z.looseObject({ commands: z.array(words) }),
  }),
  z.looseObject({
    type: z.literal('local_shell_call'),
    call_id: callId,
    action: z.looseObject({ command: z.array(words) }),
  }),
  z.looseObject({
    type: z.literal('apply_patch_call'),
    call_id: callId,
    operation: z.looseObject({ type: words }),
  }),
  z.looseObject({
    type: z.literal('tool_search_call'),
    call_id: maybe(callId),
    execution: maybe(words),
    arguments: z.unknown(),
  }),
  z.looseObject({
    type: z.enum(['function_call_output', 'custom_tool_call_output']),
    call_id: callId,
    output: ToolOutput,
  }),
  z.looseObject({
    type: z.literal('shell_call_output'),
    call_id: callId,
    output: z.array(z.looseObject({})),
  }),
  z.looseObject({
    type: z.literal('local_shell_call_output'),
    id: maybe(callId),
    call_id: maybe(callId),
    output: words,
  }),
  z.looseObject({
    type: z.literal('apply_patch_call_output'),
    call_id: callId,
    status: maybe(words),
    output: maybe(words),
  }),
  z.looseObject({ type: z.literal('tool_search_output'), call_id: maybe(callId), tools }),
  z.looseObject({ type: z.literal('additional_tools'), tools }),
  z.looseObject({ type: z.literal('reasoning'), encrypted_content: maybe(words) }),
  z.looseObject({ type: z.literal('web_search_call') }),
  z.looseObject({
    type: z.literal('configuration_update'),
    reasoning: maybe(z.looseObject({})),
    text: maybe(z.looseObject({})),
  }),
])
export type ResponsesItem = z.output<typeof ResponsesItem>
