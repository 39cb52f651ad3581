import { z } from 'zod'
import { CallerPart, PlainPart } from './content-parts'
import { customIssue, type CustomIssue } from './field-error'
import {
  countField,
  effort,
  logitBias,
  maybe,
  metadataField,
  modelField,
  outputLimit,
  penaltyFields,
  samplingFields,
  stopField,
  streamFields,
  text,
  userField,
} from './fields'
import { isObject, type JsonObject } from './json-body'
import { callId } from './packed-call-id'
import { toSparse, withRule } from './sparse'

const FunctionCall = z.looseObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string().min(1), arguments: z.string() }),
})

const CustomCall = z.looseObject({
  id: z.string().min(1),
  type: z.literal('custom'),
  custom: z.looseObject({ name: z.string().min(1), input: z.string() }),
})

/** Returns the role of a message that was not checked; undefined for none. */
export const roleOf = (message: unknown): unknown =>
  isObject(message) ? message['role'] : undefined

/** Bounds on the number of elements of a request. */
interface MaxCounts {
  messages: number
  parts: number
  tools: number
}

// Not Infinity, which zod does not compile.
const unbounded = Number.MAX_SAFE_INTEGER

/**
 * Returns whether an assistant's turn has something in place of text; it may have reached its limit while
 * thinking.
 */
const hasOtherModalities = (message: JsonObject): boolean =>
  (Array.isArray(message['tool_calls']) && message['tool_calls'].length > 0) ||
  Boolean(message['function_call'] || message['refusal'] || message['audio']) ||
  hasThoughts(message)

const hasThoughts = ({
  reasoning_content: text,
  reasoning_details: details,
}: JsonObject): boolean =>
  (typeof text === 'string' && text !== '') || (Array.isArray(details) && details.length > 0)

const messageOf = <Call extends z.ZodType, Part extends z.ZodType>(
  { parts }: MaxCounts,
  { call, part }: { call: Call; part: Part },
) =>
  withRule(
    z.looseObject({
      role: z.enum(['user', 'assistant', 'system', 'tool', 'developer', 'function']),
      content: z.union([z.string(), z.array<Part>(part).min(1).max(parts)]).nullish(),
      name: maybe(text(64, 1)),
      tool_calls: maybe(z.array(call).max(128)),
      function_call: maybe(z.looseObject({ name: z.string(), arguments: z.string() })),
      tool_call_id: maybe(callId),
    }),
    findMessageFaults,
  )

const noFaults: readonly CustomIssue[] = []

/** Finds the faults of a message whose fields are valid each by itself. */
function findMessageFaults(message: JsonObject): readonly CustomIssue[] {
  const { role, content, name, tool_calls: calls, tool_call_id: callOfResult } = message
  const isAssistant = role === 'assistant'
  const hasContent = content !== null && content !== undefined
  // Nearly all messages.
  if (hasContent && (isAssistant || (role === 'user' && !calls))) return noFaults
  const faults: CustomIssue[] = []
  if (!hasContent && !(isAssistant && hasOtherModalities(message)))
    faults.push(customIssue('required', 'this field is required.', ['content']))
  if (calls && !isAssistant)
    faults.push(
      customIssue('not_allowed', 'only an assistant message has tool calls.', ['tool_calls']),
    )
  if (role === 'tool' && !callOfResult)
    faults.push(customIssue('required', 'a tool message names its call.', ['tool_call_id']))
  if (role === 'function' && !name)
    faults.push(customIssue('required', 'a function message names its function.', ['name']))
  return faults
}

const FunctionDefinition = z.looseObject({
  name: text(128, 1),
  description: maybe(z.string()),
  parameters: maybe(z.looseObject({})),
  strict: maybe(z.boolean()),
})

const NamedTool = z.looseObject({ name: z.string().min(1) })

const Grammar = z.looseObject({ syntax: z.enum(['lark', 'regex']), definition: z.string() })

const CustomDefinition = z.looseObject({
  name: text(128, 1),
  description: maybe(z.string()),
  format: maybe(
    z.discriminatedUnion('type', [
      z.looseObject({ type: z.literal('text') }),
      z.looseObject({ type: z.literal('grammar'), grammar: Grammar }),
    ]),
  ),
})

const FunctionTool = z.looseObject({ type: z.literal('function'), function: FunctionDefinition })
const CustomTool = z.looseObject({ type: z.literal('custom'), custom: CustomDefinition })

const FunctionChoice = z.looseObject({ type: z.literal('function'), function: NamedTool })
const CustomChoice = z.looseObject({ type: z.literal('custom'), custom: NamedTool })
const AllowedChoice = z.looseObject({
  type: z.literal('allowed_tools'),
  allowed_tools: z.looseObject({}),
})
const choiceModes = z.enum(['none', 'auto', 'required'])

/** The content parts of a request, and the tools that it may offer, call in its history, and choose. */
interface ChatSchemas {
  part: z.ZodType
  tool: z.ZodType
  call: z.ZodType
  choice: z.ZodType
}

const functionsOnly = {
  part: PlainPart,
  tool: FunctionTool,
  call: FunctionCall,
  choice: z.union([choiceModes, z.discriminatedUnion('type', [FunctionChoice, AllowedChoice])]),
} satisfies ChatSchemas

const functionsAndCustom = {
  part: CallerPart,
  tool: z.discriminatedUnion('type', [FunctionTool, CustomTool]),
  call: z.discriminatedUnion('type', [FunctionCall, CustomCall]),
  choice: z.union([
    choiceModes,
    z.discriminatedUnion('type', [FunctionChoice, CustomChoice, AllowedChoice]),
  ]),
} satisfies ChatSchemas

const ResponseFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({
      name: text(64, 1),
      schema: maybe(z.looseObject({})),
      strict: maybe(z.boolean()),
    }),
  }),
])

const shapeOf = <Schemas extends ChatSchemas>(
  maxCounts: MaxCounts,
  { part, tool, call, choice }: Schemas,
) => ({
  model: modelField,
  messages: z
    .array(messageOf<Schemas['call'], Schemas['part']>(maxCounts, { call, part }))
    .min(1)
    .max(maxCounts.messages),
  ...samplingFields,
  max_tokens: outputLimit,
  max_completion_tokens: outputLimit,
  n: countField,
  ...streamFields,
  stop: stopField,
  ...penaltyFields,
  tools: maybe(z.array<Schemas['tool']>(tool).max(maxCounts.tools)),
  tool_choice: maybe<Schemas['choice']>(choice),
  functions: maybe(z.array(FunctionDefinition).max(128)),
  function_call: maybe(z.union([z.enum(['none', 'auto']), NamedTool])),
  parallel_tool_calls: maybe(z.boolean()),
  response_format: maybe(ResponseFormat),
  seed: maybe(z.int()),
  user: userField,
  logprobs: maybe(z.boolean()),
  top_logprobs: maybe(z.int().min(0).max(20)),
  logit_bias: logitBias,
  reasoning_effort: maybe(effort),
  reasoning: maybe(z.looseObject({ effort: maybe(effort) })),
  modalities: maybe(z.array(z.enum(['text', 'audio', 'image'])).max(3)),
  audio: maybe(z.looseObject({})),
  metadata: metadataField,
  store: maybe(z.boolean()),
  service_tier: maybe(z.string()),
  prediction: maybe(z.looseObject({})),
})

const chatRequestOf = <Schemas extends ChatSchemas>(maxCounts: MaxCounts, schemas: Schemas) =>
  withRule(z.looseObject(shapeOf(maxCounts, schemas)), findRequestFaults)

/** Finds the faults of a request whose fields are valid each by itself. */
function findRequestFaults(request: JsonObject): readonly CustomIssue[] {
  const { top_logprobs: top, logprobs } = request
  const missingChoice = findMissingChoice(request)
  const hasConflict = Boolean(top) && !logprobs
  if (!hasConflict && !missingChoice) return noFaults
  const faults: CustomIssue[] = []
  if (hasConflict) faults.push(customIssue('conflict', 'needs "logprobs": true.', ['top_logprobs']))
  if (missingChoice) {
    const { type, name } = missingChoice
    const path = ['tool_choice', type, 'name']
    faults.push(customIssue('unknown_value', `the tool "${name}" is not in tools.`, path))
  }
  return faults
}

/** The tool that the choice demands, where the request does not offer it. */
function findMissingChoice({ tools, tool_choice: choice }: JsonObject) {
  if (!Array.isArray(tools) || tools.length === 0 || !isObject(choice)) return undefined
  const { type } = choice
  if (type !== 'function' && type !== 'custom') return undefined
  const nameIn = (holder: unknown) => {
    const namedTool = isObject(holder) ? holder[type] : undefined
    return isObject(namedTool) ? namedTool['name'] : undefined
  }
  const name = nameIn(choice)
  return tools.some((tool) => nameIn(tool) === name) ? undefined : { type, name: String(name) }
}

/**
 * `POST /v1/chat/completions`; fields that it does not name travel on to the provider.
 * Source: contract 4.1.
 */
export const CallerChat = toSparse(
  chatRequestOf({ messages: 2000, parts: 256, tools: 128 }, functionsAndCustom),
)
export type CallerChat = z.output<typeof CallerChat>

const maxCounts = { messages: unbounded, parts: unbounded, tools: unbounded }

/** The schema of a chat request made from one in another format, which has bounds of its own. */
export const TranslatedChat = toSparse(chatRequestOf(maxCounts, functionsAndCustom))

/** A chat request as adapters read it: functions stand for custom tools. See `plain-chat.ts`. */
export const ChatRequest = toSparse(chatRequestOf(maxCounts, functionsOnly))
export type ChatRequest = z.output<typeof ChatRequest>

export type ChatMessage = ChatRequest['messages'][number]
export type ChatTool = NonNullable<ChatRequest['tools']>[number]
export type ReasoningEffort = NonNullable<ChatRequest['reasoning_effort']>
