import { z } from 'zod'
import { audioFormat, imageAddress } from '../../wire/content-parts'
import { customIssue } from '../../wire/field-error'
import { maxParts, maybe } from '../../wire/fields'
import { callId } from '../../wire/packed-call-id'

const AnyText = z.string()

const Image = z
  .looseObject({
    type: z.literal('input_image'),
    image_url: maybe(imageAddress),
    file_id: maybe(AnyText),
    detail: maybe(z.enum(['auto', 'low', 'high', 'original'])),
  })
  .superRefine(({ image_url: url, file_id: id }, ctx) => {
    if (url) return
    const notStored = 'files are not stored here. Send the image as image_url.'
    if (id) ctx.addIssue(customIssue('not_allowed', notStored, ['file_id']))
    else ctx.addIssue(customIssue('required', 'this field is required.', ['image_url']))
  })

const File = z
  .looseObject({
    type: z.literal('input_file'),
    file_data: maybe(AnyText),
    file_id: maybe(AnyText),
    file_url: maybe(AnyText),
    filename: maybe(AnyText),
  })
  .superRefine(({ file_data: data, file_id: id, file_url: url }, ctx) => {
    if (data || id) return
    const fetched = 'files are not fetched here. Send the file as file_data.'
    if (url) ctx.addIssue(customIssue('not_allowed', fetched, ['file_url']))
    else ctx.addIssue(customIssue('required', 'this field is required.', ['file_data']))
  })

const Text = z.looseObject({
  type: z.enum(['input_text', 'output_text', 'text']),
  text: AnyText,
})

const Content = z.discriminatedUnion('type', [
  Text,
  z.looseObject({ type: z.literal('refusal'), refusal: AnyText }),
  Image,
  File,
  z.looseObject({
    type: z.literal('input_audio'),
    input_audio: z.looseObject({ data: AnyText, format: audioFormat }),
  }),
])
export type Content = z.output<typeof Content>

const ToolOutput = z.union([
  AnyText,
  z.array(z.discriminatedUnion('type', [Text, Image, File])).max(maxParts),
])

const name = z.string().min(1)
const namespace = maybe(AnyText)
const tools = z.array(z.looseObject({}))

/** The items that are translated; for any other provider than OpenAI all others are refused. */
export const ResponsesItem = z.discriminatedUnion('type', [
  z.looseObject({
    type: maybe(z.literal('message')),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.union([AnyText, z.array(Content).max(maxParts)]),
  }),
  z.looseObject({
    type: z.literal('function_call'),
    call_id: callId,
    name,
    namespace,
    arguments: AnyText,
  }),
  z.looseObject({
    type: z.literal('custom_tool_call'),
    call_id: callId,
    name,
    namespace,
    input: AnyText,
  }),
  z.looseObject({
    type: z.literal('shell_call'),
    call_id: callId,
    action: z.looseObject({ commands: z.array(AnyText) }),
  }),
  z.looseObject({
    type: z.literal('local_shell_call'),
    call_id: callId,
    action: z.looseObject({ command: z.array(AnyText) }),
  }),
  z.looseObject({
    type: z.literal('apply_patch_call'),
    call_id: callId,
    operation: z.looseObject({ type: AnyText }),
  }),
  z.looseObject({
    type: z.literal('tool_search_call'),
    call_id: maybe(callId),
    execution: maybe(AnyText),
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
    output: AnyText,
  }),
  z.looseObject({
    type: z.literal('apply_patch_call_output'),
    call_id: callId,
    status: maybe(AnyText),
    output: maybe(AnyText),
  }),
  z.looseObject({ type: z.literal('tool_search_output'), call_id: maybe(callId), tools }),
  z.looseObject({ type: z.literal('additional_tools'), tools }),
  z.looseObject({ type: z.literal('reasoning'), encrypted_content: maybe(AnyText) }),
  z.looseObject({ type: z.literal('web_search_call') }),
  z.looseObject({
    type: z.literal('configuration_update'),
    reasoning: maybe(z.looseObject({})),
    text: maybe(z.looseObject({})),
  }),
])
export type ResponsesItem = z.output<typeof ResponsesItem>
export type ResponsesItemOf<Type extends ResponsesItem['type']> = Extract<
  ResponsesItem,
  { type: Type }
>
