import { errorProblems } from './errors'
import { ToolCallRules } from './tool-calls'

type Json = Record<string, unknown>

/** What the request said that its stream must keep to; unknown parts judge nothing. */
export interface StreamRequest {
  path: string
  includeUsage: boolean | undefined
  n: number | undefined
}

interface ChoiceState {
  finishReason: string | undefined
  hasRole: boolean
  tools: ToolCallRules
}

const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call']

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The rules that concern the objects of a stream rather than its lines. */
export class ChunkRules {
  readonly #request: StreamRequest
  readonly #note: (violation: string) => void
  readonly #choices = new Map<number, ChoiceState>()
  #id: unknown
  #hasUsage = false

  constructor(request: StreamRequest, note: (violation: string) => void) {
    this.#request = request
    this.#note = note
  }

  /** Judges the data of one event; says whether it was a chunk or the error that ends a stream. */
  take(data: string): 'chunk' | 'error' {
    let chunk: unknown
    try {
      chunk = JSON.parse(data)
    } catch {
      chunk = undefined
    }
    if (!isJson(chunk)) {
      this.#note(`R9: data that is no JSON object: ${data.slice(0, 60)}`)
      return 'chunk'
    }
    if ('error' in chunk && chunk['error'] !== null) {
      for (const problem of errorProblems(chunk)) this.#note(`R8: ${problem}`)
      return 'error'
    }
    if ('error' in chunk) this.#note('R7: a chunk with "error": null')
    if (this.#hasUsage) this.#note('R10: a chunk after the usage chunk')
    this.#envelope(chunk)
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'].filter(isJson) : []
    this.#usage(chunk, choices.length)
    for (const choice of choices) this.#choice(choice)
    if ('tool_message' in chunk) this.#result(chunk['tool_message'])
    return 'chunk'
  }

  /** `[DONE]` came: everything must be finished. */
  done(): void {
    const wanted = this.#request.n ?? 1
    if (this.#choices.size < wanted) {
      this.#note(`I18: [DONE] after ${this.#choices.size} of ${wanted} choices`)
    }
    for (const [index, { finishReason, tools }] of this.#choices) {
      if (finishReason === undefined) this.#note(`I18: [DONE] before choice ${index} finished`)
      for (const problem of tools.problems(finishReason)) this.#note(problem)
    }
    if (this.#request.includeUsage && !this.#hasUsage)
      this.#note('R10: no usage chunk before [DONE]')
  }

  #envelope(chunk: Json): void {
    const isChat = /chat|automation/.test(this.#request.path)
    const object = isChat ? 'chat.completion.chunk' : 'text_completion'
    this.#id ??= chunk['id']
    if (typeof chunk['id'] !== 'string' || chunk['id'] === '') this.#note('R9: no id')
    else if (chunk['id'] !== this.#id) this.#note('R9: another id than in the first chunk')
    if (chunk['object'] !== object) this.#note(`R9: object is not ${object}`)
    if (!Number.isInteger(chunk['created'])) this.#note('R9: created is no integer')
    if (typeof chunk['model'] !== 'string') this.#note('R9: no model')
    if (!Array.isArray(chunk['choices'])) this.#note('R9: no choices')
  }

  #usage({ usage }: Json, choiceCount: number): void {
    if (usage === undefined || usage === null) {
      if (choiceCount === 0) this.#note('R10: no choices and no usage')
      return
    }
    if (choiceCount > 0) return this.#note('R10: usage on a chunk with choices')
    this.#hasUsage = true
    if (this.#request.includeUsage === false) this.#note('R10: usage not requested')
  }

  #choice(choice: Json): void {
    const { index, finish_reason: reason, delta } = choice
    if (typeof index !== 'number') return this.#note('R9: a choice without index')
    const fresh = { finishReason: undefined, hasRole: false, tools: new ToolCallRules() }
    const state: ChoiceState = this.#choices.get(index) ?? fresh
    this.#choices.set(index, state)
    if (state.finishReason !== undefined)
      this.#note(`I18: choice ${index} goes on after its finish`)
    if (isJson(delta)) this.#delta(delta, state)
    if (reason === null || reason === undefined) return
    state.finishReason = typeof reason === 'string' ? reason : JSON.stringify(reason)
    if (!finishReasons.includes(state.finishReason)) {
      this.#note(`R13: finish_reason ${state.finishReason}`)
    }
  }

  /** The result of a tool that ran on our side, between two answers. Source: docs/concepts/automation.md. */
  #result(result: unknown): void {
    const problems = this.#choices.get(0)?.tools.answered(result) ?? []
    for (const problem of problems) this.#note(problem)
  }

  #delta(delta: Json, state: ChoiceState): void {
    if ('role' in delta) {
      if (state.hasRole) this.#note('R9: the role was sent twice')
      state.hasRole = true
    }
    for (const problem of state.tools.take(delta['tool_calls'])) this.#note(problem)
  }
}
