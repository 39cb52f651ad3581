import { ApiError } from '../../api/client'
import { reasonOf } from '../../api/reason'
import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { piecesOf } from './answer-stream'
import {
  addPiece,
  beginAnswer,
  endAnswer,
  replaceLast,
  toLines,
  type Line,
  type PartialAnswer,
} from './conversation-lines'
import { chatQuery, chats, chatsKey } from './queries'

/** The options of a request. */
export interface MessageOptions {
  model: string
  systemPrompt: string
  temperature?: number | undefined
  max_tokens?: number | undefined
}

/** The state that the service has stored of a conversation. */
interface Saved {
  id: string
  model: string
  systemPrompt: string
}

const nameLength = 80

/** Returns a stored conversation with the given options; the first message becomes the title of a new one. */
async function prepared(
  saved: Saved | undefined,
  options: MessageOptions,
  content: string,
): Promise<Saved> {
  const { model, systemPrompt } = options
  if (!saved) {
    const name = content.trim().slice(0, nameLength)
    const fields = { modelId: model, name, ...(systemPrompt && { systemPrompt }) }
    const { id } = await chats.begin(fields)
    return { id, model, systemPrompt }
  }
  if (saved.model !== model || saved.systemPrompt !== systemPrompt) {
    await chats.change(saved.id, { modelId: model, systemPrompt: systemPrompt || null })
  }
  return { id: saved.id, model, systemPrompt }
}

interface Manner {
  options: MessageOptions
  signal: AbortSignal
}

function textOf(id: string, content: string, { options, signal }: Manner): Promise<Response> {
  const { temperature, max_tokens } = options
  return chats.sendMessage(id, { content, temperature, max_tokens }, signal)
}

/** The visible part of a conversation. */
interface DisplayedConversation {
  lines: readonly Line[]
  /** The number of messages before these. */
  earlierCount: number
}
const emptyConversation: DisplayedConversation = { lines: [], earlierCount: 0 }

/** Loads a stored conversation. */
async function loadConversation(
  queries: QueryClient,
  id: string,
): Promise<DisplayedConversation & { saved: Saved }> {
  const { chat, messages, earlierCount } = await queries.fetchQuery({
    ...chatQuery(id),
    staleTime: 0,
  })
  const saved = { id, model: chat.modelId, systemPrompt: chat.systemPrompt ?? '' }
  return { saved, lines: toLines(messages), earlierCount }
}

interface Props {
  /** The id of a stored conversation. */
  id: string | undefined
  /** Receives the id of a new conversation. */
  onBegun: (id: string) => void
  /** Receives the options of a stored conversation. Resolves once they are in effect. */
  onLoaded: (options: Pick<MessageOptions, 'model' | 'systemPrompt'>) => Promise<void>
}

interface State extends DisplayedConversation {
  isBusy: boolean
  isLoading: boolean
  error: Error | undefined
}

const begun = (isLoading: boolean): State => ({
  ...emptyConversation,
  isBusy: false,
  isLoading,
  error: undefined,
})

/** Replaces the last lines of a conversation. */
const withLines = (state: State, count: number, others: readonly Line[]): State => ({
  ...state,
  lines: replaceLast(state.lines, count, others),
})

/** A conversation with a model: its messages, and functions to send and to stop. */
export function useConversation({ id, onBegun, onLoaded }: Props) {
  const queries = useQueryClient()
  const [state, setState] = useState(() => begun(id !== undefined))
  const change = (fields: Partial<State>) => setState((old) => ({ ...old, ...fields }))
  const saved = useRef<Saved>(undefined)
  const stopping = useRef<AbortController>(undefined)
  const stop = () => stopping.current?.abort()
  useEffect(() => {
    let isCurrent = id !== saved.current?.id
    const end = () => {
      isCurrent = false
    }
    if (!isCurrent) return end
    stop()
    stopping.current = undefined
    saved.current = undefined
    setState(begun(id !== undefined))
    if (id === undefined) return end
    loadConversation(queries, id)
      .then(async ({ saved: chat, ...displayed }) => {
        if (!isCurrent) return
        saved.current = chat
        change(displayed)
        await onLoaded(chat)
      })
      .catch((error: Error) => isCurrent && change({ error }))
      .finally(() => isCurrent && change({ isLoading: false }))
    return end
  }, [id, queries])
  useEffect(() => stop, [])
  const send = async (content: string, options: MessageOptions) => {
    const control = new AbortController()
    stopping.current = control
    change({ isBusy: true, error: undefined })
    const answer = new DisplayedAnswer(options.model, (lines, before) => {
      if (stopping.current === control) setState((old) => withLines(old, before, lines))
    })
    setState((old) => withLines(old, 0, [{ role: 'user', text: content }, ...answer.lines]))
    try {
      const chat = await prepared(saved.current, options, content)
      if (stopping.current !== control) return
      saved.current = chat
      onBegun(chat.id)
      await answer.read(await textOf(chat.id, content, { options, signal: control.signal }))
    } catch (thrown) {
      if (thrown instanceof ApiError) answer.refused(thrown.requestId)
      answer.end(control.signal.aborted ? 'Stopped.' : reasonOf(thrown))
    } finally {
      if (stopping.current === control) change({ isBusy: false })
      void queries.invalidateQueries({ queryKey: chatsKey })
    }
  }
  /** Loads messages that were added elsewhere in the meantime. */
  const refresh = async () => {
    const [current, before] = [saved.current, stopping.current]
    const { lines, earlierCount } = current ? await loadConversation(queries, current.id) : state
    if (saved.current === current && stopping.current === before) change({ lines, earlierCount })
  }
  return { ...state, send, stop, refresh }
}

/** A streaming response, rendered once per frame however fast it arrives. */
class DisplayedAnswer {
  #answer: PartialAnswer
  /** Receives all lines, and the number of lines shown last time. */
  readonly #show: (lines: readonly Line[], before: number) => void
  #displayed = 1
  #frame = 0
  #requestId: string | null = null

  constructor(model: string, show: (lines: readonly Line[], before: number) => void) {
    this.#answer = beginAnswer(model)
    this.#show = show
  }

  get lines(): readonly Line[] {
    return this.#answer.lines
  }

  async read(response: Response): Promise<void> {
    this.#requestId = response.headers.get('x-request-id')
    for await (const piece of piecesOf(response)) {
      this.#answer = addPiece(this.#answer, piece, Date.now())
      this.#frame ||= requestAnimationFrame(() => {
        this.#frame = 0
        this.#notify()
      })
    }
    this.end()
  }

  /** Takes the id of a request that was refused instead of answered. */
  refused(requestId: string | null): void {
    this.#requestId ??= requestId
  }

  end(problem?: string): void {
    cancelAnimationFrame(this.#frame)
    this.#answer = endAnswer(this.#answer, { requestId: this.#requestId, problem })
    this.#notify()
  }

  #notify(): void {
    this.#show(this.lines, this.#displayed)
    this.#displayed = this.lines.length
  }
}
