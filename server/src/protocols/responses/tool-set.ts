import { FunctionNames } from './tool-names'
import { isHosted, toFunction, type CallerTool, type ToolKind } from './tool-kinds'
import { invalidRequest, type ApiError } from '../../errors'
import { isObject, type JsonObject } from '../../wire/json-body'

/** A tool that its caller does not run, and where it stands in the request. */
export interface HostedTool {
  type: string
  param: string
}

/** Called with the error of a request that only some providers can answer. */
export type OnRefusal = (error: ApiError) => void

/** The position of a tool. */
interface ToolPosition {
  param: string
  namespace?: string
  /** The description of the namespace, before its first tool. */
  before?: string
}

const kinds: Readonly<Record<string, ToolKind>> = {
  function: 'function',
  custom: 'custom',
  shell: 'shell',
  local_shell: 'local_shell',
  apply_patch: 'apply_patch',
  tool_search: 'tool_search',
}
const isNamed = (kind: ToolKind) => kind === 'function' || kind === 'custom'

/** The tools of a request as functions of a chat request, and the way back from a call to its tool. */
export class ToolSet {
  readonly hostedTools: HostedTool[] = []
  readonly #refuse: OnRefusal
  readonly #names = new FunctionNames()
  readonly #functions = new Map<string, JsonObject>()
  readonly #tools = new Map<string, CallerTool>()

  constructor(refuse: OnRefusal) {
    this.#refuse = refuse
  }

  get functions(): JsonObject[] {
    return [...this.#functions.values()]
  }

  /** The caller's tools by the names of the functions that stand for them. */
  get byFunction(): ReadonlyMap<string, CallerTool> {
    return this.#tools
  }

  /** A later one of the same name takes the place of an earlier one. */
  add(tools: unknown, param: string): void {
    if (!Array.isArray(tools)) return
    for (const [index, tool] of tools.entries()) this.#add(tool, { param: `${param}.${index}` })
  }

  /** The function that stands for a tool; one that is there no more, but was called, has a name all the same. */
  functionFor({ kind, name, namespace }: CallerTool): string {
    return this.#names.nameOf(isNamed(kind) ? { name, namespace } : { name: kind })
  }

  has(functionName: string): boolean {
    return this.#functions.has(functionName)
  }

  #add(tool: unknown, place: ToolPosition): void {
    const type = isObject(tool) ? tool['type'] : undefined
    if (!isObject(tool) || typeof type !== 'string') {
      return this.#refuse(toMissingField(`${place.param}.type`))
    }
    if (type === 'namespace') return this.#addNamespace(tool, place)
    if (isHosted(type) || (type === 'shell' && isInContainer(tool))) {
      this.hostedTools.push({ type, param: `${place.param}.type` })
      return
    }
    const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined
    if (!kind) {
      const message = `${place.param}.type: "${type}" tools cannot be translated for this model.`
      return this.#refuse(invalidRequest(`${place.param}.type`, 'unsupported_by_model', message))
    }
    // Every tool that it could find is there from the beginning.
    if (kind === 'tool_search' && tool['execution'] !== 'client') return
    if (isOnlyForPrograms(tool)) {
      const field = `${place.param}.allowed_callers`
      const message = `${field}: this model cannot call tools from programs.`
      return this.#refuse(invalidRequest(field, 'unsupported_by_model', message))
    }
    this.#register(kind, tool, place)
  }

  #register(
    kind: ToolKind,
    tool: JsonObject,
    { param, namespace, before = '' }: ToolPosition,
  ): void {
    const name = isNamed(kind) ? tool['name'] : kind
    if (typeof name !== 'string' || name === '')
      return this.#refuse(toMissingField(`${param}.name`))
    if (name.length > 128) {
      const message = `${param}.name: must have a length of at most 128.`
      return this.#refuse(invalidRequest(`${param}.name`, 'too_long', message))
    }
    const callerTool: CallerTool = { kind, name, ...(namespace && { namespace }) }
    const functionName = this.functionFor(callerTool)
    const existingTool = this.#tools.get(functionName)
    if (existingTool && existingTool.kind !== kind) {
      // A call comes back by its name alone.
      const message = `${param}.name: another tool already has this name.`
      return this.#refuse(invalidRequest(`${param}.name`, 'duplicate', message))
    }
    this.#tools.set(functionName, callerTool)
    const functionTool = toFunction(callerTool, tool, { name: functionName, before })
    this.#functions.set(functionName, functionTool)
  }

  #addNamespace(namespace: JsonObject, { param }: ToolPosition): void {
    const { name, description, tools } = namespace
    if (typeof name !== 'string' || name === '')
      return this.#refuse(toMissingField(`${param}.name`))
    if (!Array.isArray(tools)) return this.#refuse(toMissingField(`${param}.tools`))
    const text = typeof description === 'string' ? description : ''
    for (const [index, tool] of tools.entries()) {
      const place = { param: `${param}.tools.${index}`, namespace: name }
      this.#add(tool, { ...place, before: index === 0 ? text : '' })
    }
  }
}

const toMissingField = (field: string) =>
  invalidRequest(field, 'required', `${field}: this field is required.`)

/** A shell of OpenAI's, not one of the caller's. */
const isInContainer = ({ environment }: JsonObject) =>
  isObject(environment) && environment['type'] !== 'local'

const isOnlyForPrograms = ({ allowed_callers: callers }: JsonObject) =>
  Array.isArray(callers) && callers.length > 0 && !callers.includes('direct')
