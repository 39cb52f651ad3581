import type { ChatRequest } from '../wire/chat-request'
import { isObject, type JsonObject } from '../wire/json-body'
import { toTools, usesFunctions } from '../wire/legacy-functions'

/** A tool that a model may call; `parameters` is a schema with an object at its root. */
export interface Tool {
  name: string
  description: string | undefined
  parameters: JsonObject
  strict: boolean | undefined
}

/** What may be called, and what must be: `none` without tools too. */
export interface ToolUse {
  tools: Tool[]
  choice: 'none' | 'auto' | 'required' | { name: string }
}

/** The tools of a request, in today's form or the older one, and the choice among them. */
export function toolUseOf(chat: ChatRequest): ToolUse {
  const today: JsonObject = usesFunctions(chat) ? toTools(chat) : chat
  const given = Array.isArray(today['tools']) ? today['tools'].filter(isObject) : []
  const tools = given.flatMap(({ function: definition }) =>
    isObject(definition) ? [toTool(definition)] : [],
  )
  if (tools.length === 0) return { tools, choice: 'none' }
  const choice = today['tool_choice']
  if (choice === 'none' || choice === 'required') return { tools, choice }
  if (!isObject(choice)) return { tools, choice: 'auto' }
  if (isObject(choice['allowed_tools'])) return allowedOnly(tools, choice['allowed_tools'])
  const name = nameIn(choice)
  return { tools, choice: name === undefined ? 'auto' : { name } }
}

const nameIn = ({ function: called }: JsonObject): string | undefined =>
  isObject(called) && typeof called['name'] === 'string' ? called['name'] : undefined

/** No dialect but OpenAI's knows a choice among some: the others are not sent. */
function allowedOnly(tools: readonly Tool[], { mode, tools: listed }: JsonObject): ToolUse {
  const allowed = new Set((Array.isArray(listed) ? listed.filter(isObject) : []).map(nameIn))
  return {
    tools: tools.filter(({ name }) => allowed.has(name)),
    choice: mode === 'required' ? 'required' : 'auto',
  }
}

function toTool({ name, description, parameters, strict }: JsonObject): Tool {
  const schema = isObject(parameters) ? parameters : {}
  return {
    name: String(name),
    description: typeof description === 'string' && description !== '' ? description : undefined,
    parameters:
      schema['type'] === 'object' ? schema : { properties: {}, ...schema, type: 'object' },
    strict: typeof strict === 'boolean' ? strict : undefined,
  }
}
