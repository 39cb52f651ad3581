import type { ToolChoice } from './request'
import { isHosted, isOptional, type CallerTool, type ToolKind } from './tool-kinds'
import type { HostedTool, ToolSet } from './tool-set'
import { invalidRequest, type ApiError } from '../../errors'
import { isObject, type JsonObject } from '../../wire/json-body'

/** A request's tools as functions, and the choice among them. */
export interface ChosenTools {
  /** Fields of a chat request. */
  fields: JsonObject
  /** The positions of tools that the answer is made without. */
  omitted: string[]
  refusal?: ApiError | undefined
}

type Choice = ToolChoice | null | undefined

/** The tools of a request and the choice among them, as fields of a chat request. */
export function toChosenTools(tools: ToolSet, choice: Choice): ChosenTools {
  const { functions } = tools
  const omitted: string[] = []
  let refusal: ApiError | undefined
  for (const tool of tools.hostedTools) {
    if (mayOmit(tool, functions.length > 0, choice)) omitted.push(tool.param)
    else refusal ??= unavailable(tool)
  }
  if (functions.length === 0) {
    refusal ??= needsTools(choice) ? missingTool(choice) : undefined
    return { fields: {}, omitted, refusal }
  }
  const chosenTools = choice ? toChatChoice(choice, tools) : {}
  return {
    fields: {
      tools: functions,
      ...(chosenTools.value !== undefined && { tool_choice: chosenTools.value }),
    },
    omitted,
    refusal: refusal ?? chosenTools.refusal,
  }
}

/**
 * A tool that clients offer unasked may be missing where the model need not call it and has others. One that is
 * never to be called may be missing in any case.
 */
export const mayOmit = (
  { type }: Pick<HostedTool, 'type'>,
  hasOthers: boolean,
  choice: Choice,
): boolean => choice === 'none' || (isOptional(type) && hasOthers && isFree(choice))

const unavailable = ({ type, param }: HostedTool) =>
  invalidRequest(
    param,
    'unsupported_by_model',
    `${param}: "${type}" is a tool hosted by OpenAI and not available for this model. Remove it, or send a function.`,
  )

/** Returns whether the choice demands no tool but a caller's own. */
function isFree(choice: Choice): boolean {
  if (!choice || choice === 'auto') return true
  if (typeof choice === 'string') return false
  if (choice.type !== 'allowed_tools') return !isHosted(choice.type)
  const allowed = choice['tools']
  return Array.isArray(allowed) && allowed.some((tool) => isObject(tool) && !isHostedTool(tool))
}

const isHostedTool = ({ type }: JsonObject) => typeof type === 'string' && isHosted(type)

const needsTools = (choice: Choice): choice is Exclude<ToolChoice, string> =>
  typeof choice === 'object' && choice !== null && choice.type !== 'allowed_tools'

interface ChatChoice {
  value?: unknown
  refusal?: ApiError
}

const toFunctionChoice = (name: string) => ({ type: 'function', function: { name } })

function toChatChoice(choice: ToolChoice, tools: ToolSet): ChatChoice {
  if (typeof choice === 'string') return { value: choice }
  if (choice.type === 'allowed_tools') return toAllowed(choice, tools)
  const name = functionNameOf(choice, tools)
  return name === undefined ? { refusal: missingTool(choice) } : { value: toFunctionChoice(name) }
}

function toAllowed(choice: JsonObject, tools: ToolSet): ChatChoice {
  const { mode, tools: listed } = choice
  const names = (Array.isArray(listed) ? listed : []).filter(isObject).flatMap((tool) => {
    if (tool['type'] === 'namespace') return namesIn(tools, tool['name'])
    const name = functionNameOf(tool, tools)
    return name === undefined ? [] : [name]
  })
  const allowed = { mode: mode === 'required' ? mode : 'auto', tools: names.map(toFunctionChoice) }
  return { value: { type: 'allowed_tools', allowed_tools: allowed } }
}

const namesIn = ({ byFunction }: ToolSet, namespace: unknown): string[] =>
  [...byFunction].flatMap(([name, tool]) => (tool.namespace === namespace ? [name] : []))

/** Returns the name of the chosen function; undefined where there is no such tool. */
function functionNameOf(choice: JsonObject, tools: ToolSet): string | undefined {
  const { type, name, namespace } = choice
  const isNamed = type === 'function' || type === 'custom'
  for (const [functionName, tool] of tools.byFunction) {
    if (tool.kind !== type) continue
    if (!isNamed || isSame(tool, name, namespace)) return functionName
  }
  return undefined
}

const isSame = (tool: CallerTool, name: unknown, namespace: unknown) =>
  tool.name === name && (namespace === undefined || tool.namespace === namespace)

const namedKinds: ReadonlySet<string> = new Set<ToolKind>(['function', 'custom'])

function missingTool({ type, name }: Exclude<ToolChoice, string>): ApiError {
  const isNamed = namedKinds.has(type)
  const field = isNamed ? 'tool_choice.name' : 'tool_choice.type'
  const message = `there is no ${type} tool${typeof name === 'string' ? ` "${name}"` : ''}.`
  return invalidRequest(field, 'unknown_value', `${field}: ${message}`)
}
