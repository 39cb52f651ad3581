import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { piecesOf, type Piece } from './answer-stream'
import { talkQuery, talks, talksKey } from './automation'
import { answered, grown, stepsIn, type ToolStep } from './tool-steps'

/** One entry of a conversation, in order. */
export interface Line {
  role: 'user' | 'assistant'
  text: string
  reasoning?: string
  /** The tool calls of a response. */
  steps?: readonly ToolStep[]
  /** The request that produced the response; absent for earlier responses. */
  requestId?: string
  /** The model that was called. */
  model?: string
  /** The reason why a response is missing or incomplete. */
  problem?: string
}

/** The options of a request. */
export interface Asking {
  model: string
  systemPrompt: string
  temperature?: number | undefined
  max_tokens?: number | undefined
}

/** The state that the service has stored of a conversation. */
interface Kept {
  id: string
  model: string
  systemPrompt: string
}

const reasonOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown))

const nameLength = 80

/** Returns a stored conversation with the given options; the first message becomes the title of a new one. */
async function prepared(kept: Kept | undefined, asking: Asking, content: string): Promise<Kept> {
  const { model, systemPrompt } = asking
  if (!kept) {
    const name = content.trim().slice(0, nameLength)
    const fields = { modelId: model, name, ...(systemPrompt && { systemPrompt }) }
    const { id } = await talks.begin(fields)
    return { id, model, systemPrompt }
  }
  if (kept.model !== model || kept.systemPrompt !== systemPrompt) {
    await talks.change(kept.id, { modelId: model, systemPrompt: systemPrompt || null })
  }
  return { id: kept.id, model, systemPrompt }
}

interface Manner {
  asking: Asking
  signal: AbortSignal
}

function said(id: string, content: string, { asking, signal }: Manner): Promise<Response> {
  const { temperature, max_tokens } = asking
  return talks.say(id, { content, temperature, max_tokens }, signal)
}

type Messages = Awaited<
  ReturnType<NonNullable<ReturnType<typeof talkQuery>['queryFn']>>
>['messages']

/** The lines of stored messages, with tool results attached to the responses that called them. */
function linesOf(messages: Messages): Line[] {
  const lines: Line[] = []
  for (const { role, content, tool_calls, tool_call_id, createdAt } of messages) {
    const text = content ?? ''
    const atMs = Date.parse(createdAt)
    const last = lines.at(-1)
    if (role === 'user') lines.push({ role, text })
    else if (role === 'assistant') lines.push({ role, text, steps: stepsIn(tool_calls, atMs) })
    else if (role === 'tool' && last?.steps) {
      const result = { tool_call_id: tool_call_id ?? '', content: text }
      lines[lines.length - 1] = { ...last, steps: answered(last.steps, result, atMs) }
    }
  }
  return lines
}

/** The visible part of a conversation. */
interface Shown {
  lines: readonly Line[]
  /** The number of messages before these. */
  earlier: number
}
const nothingSaid: Shown = { lines: [], earlier: 0 }

/** Loads a stored conversation. */
async function found(queries: QueryClient, id: string): Promise<Shown & { kept: Kept }> {
  const { talk, messages, earlier } = await queries.fetchQuery({ ...talkQuery(id), staleTime: 0 })
  const kept = { id, model: talk.modelId, systemPrompt: talk.systemPrompt ?? '' }
  return { kept, lines: linesOf(messages), earlier }
}

interface Props {
  /** The id of a stored conversation. */
  id: string | undefined
  /** Receives the id of a new conversation. */
  onBegun: (id: string) => void
  /** Receives the options of a stored conversation. Resolves once they are in effect. */
  onFound: (asking: Pick<Asking, 'model' | 'systemPrompt'>) => Promise<void>
}

interface State extends Shown {
  isBusy: boolean
  isLoading: boolean
  error: Error | undefined
}

const begun = (isLoading: boolean): State => ({
  ...nothingSaid,
  isBusy: false,
  isLoading,
  error: undefined,
})

/** Replaces the last lines of a conversation. */
const withLines = (state: State, last: number, others: readonly Line[]): State => ({
  ...state,
  lines: [...state.lines.slice(0, state.lines.length - last), ...others],
})

/** A conversation with a model: its messages, and functions to send and to stop. */
export function useConversation({ id, onBegun, onFound }: Props) {
  const queries = useQueryClient()
  const [state, setState] = useState(() => begun(id !== undefined))
  const change = (fields: Partial<State>) => setState((old) => ({ ...old, ...fields }))
  const kept = useRef<Kept>(undefined)
  const stopping = useRef<AbortController>(undefined)
  const stop = () => stopping.current?.abort()
  useEffect(() => {
    let isWanted = id !== kept.current?.id
    const end = () => {
      isWanted = false
    }
    if (!isWanted) return end
    stop()
    stopping.current = undefined
    kept.current = undefined
    setState(begun(id !== undefined))
    if (id === undefined) return end
    found(queries, id)
      .then(async ({ kept: talk, ...shown }) => {
        if (!isWanted) return
        kept.current = talk
        change(shown)
        await onFound(talk)
      })
      .catch((error: Error) => isWanted && change({ error }))
      .finally(() => isWanted && change({ isLoading: false }))
    return end
  }, [id, queries])
  useEffect(() => stop, [])
  const send = async (content: string, asking: Asking) => {
    const control = new AbortController()
    stopping.current = control
    change({ isBusy: true, error: undefined })
    const answer = new Answer(asking.model, (lines, before) => {
      if (stopping.current === control) setState((old) => withLines(old, before, lines))
    })
    setState((old) => withLines(old, 0, [{ role: 'user', text: content }, ...answer.lines]))
    try {
      const talk = await prepared(kept.current, asking, content)
      if (stopping.current !== control) return
      kept.current = talk
      onBegun(talk.id)
      await answer.read(await said(talk.id, content, { asking, signal: control.signal }))
    } catch (thrown) {
      answer.end(control.signal.aborted ? 'Stopped.' : reasonOf(thrown))
    } finally {
      if (stopping.current === control) change({ isBusy: false })
      void queries.invalidateQueries({ queryKey: talksKey })
    }
  }
  /** Loads messages that were added elsewhere in the meantime. */
  const refresh = async () => {
    const [known, before] = [kept.current, stopping.current]
    const { lines, earlier } = known ? await found(queries, known.id) : state
    if (kept.current === known && stopping.current === before) change({ lines, earlier })
  }
  return { ...state, send, stop, refresh }
}

/**
 * A streaming response, rendered once per frame however fast it arrives. After tool results the model
 * continues in a line of its own.
 */
class Answer {
  lines: readonly [Line, ...Line[]]
  readonly #model: string
  /** Receives all lines, and the number of lines shown last time. */
  readonly #show: (lines: readonly Line[], before: number) => void
  #shown = 1
  #frame = 0
  /** The number of tool calls in the lines before the last. */
  #calls = 0
  #requestId: string | null = null

  constructor(model: string, show: (lines: readonly Line[], before: number) => void) {
    this.lines = [{ role: 'assistant', text: '', model }]
    this.#model = model
    this.#show = show
  }

  async read(response: Response): Promise<void> {
    this.#requestId = response.headers.get('x-request-id')
    for await (const piece of piecesOf(response)) {
      this.#add(piece)
      this.#frame ||= requestAnimationFrame(() => {
        this.#frame = 0
        this.#tell()
      })
    }
    this.end()
  }

  end(problem?: string): void {
    cancelAnimationFrame(this.#frame)
    const [first, ...others] = this.lines
    // Each call of a model has its own log, and the id belongs to the first.
    const isAlone = others.length === 0 && !first.steps
    if (isAlone && this.#requestId) this.#change({ requestId: this.#requestId })
    if (problem !== undefined) this.#change({ problem })
    this.#tell()
  }

  #add({ text, reasoning, call, result }: Piece): void {
    const steps = this.#last.steps
    const isNext = steps?.every((step) => step.result !== undefined) && (text || reasoning || call)
    if (steps && isNext) {
      this.#calls += steps.length
      this.lines = [...this.lines, { role: 'assistant', text: '', model: this.#model }]
    }
    const line = this.#last
    if (text) this.#change({ text: line.text + text })
    if (reasoning) this.#change({ reasoning: (line.reasoning ?? '') + reasoning })
    if (call) {
      const piece = { ...call, index: call.index - this.#calls }
      this.#change({ steps: grown(line.steps ?? [], piece, Date.now()) })
    }
    if (result) this.#change({ steps: answered(line.steps ?? [], result, Date.now()) })
  }

  get #last(): Line {
    return this.lines.at(-1) ?? this.lines[0]
  }

  #change(fields: Partial<Line>): void {
    const [first, ...others] = this.lines
    const changed = { ...this.#last, ...fields }
    this.lines = others.length === 0 ? [changed] : [first, ...others.slice(0, -1), changed]
  }

  #tell(): void {
    this.#show(this.lines, this.#shown)
    this.#shown = this.lines.length
  }
}
