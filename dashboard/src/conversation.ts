import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { piecesOf } from './answer-stream'
import { talkQuery, talks, talksKey } from './automation'

/** Something that was said, in the order of the conversation. */
export interface Line {
  role: 'user' | 'assistant'
  text: string
  reasoning?: string
  /** Of the request that brought an answer; older answers have none. */
  requestId?: string
  /** The model that was asked. */
  model?: string
  /** Why an answer is none, or not whole. */
  problem?: string
}

/** How a message is asked. */
export interface Asking {
  model: string
  systemPrompt: string
  temperature?: number | undefined
  max_tokens?: number | undefined
}

/** What the service has been told of a conversation. */
interface Kept {
  id: string
  model: string
  systemPrompt: string
}

const nameLength = 80

/** Where a message goes: a conversation that is as asked for. Its first message names it. */
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

const toLine = ({ role, content }: Messages[number]): Line[] =>
  role === 'user' || role === 'assistant' ? [{ role, text: content ?? '' }] : []

/** An earlier conversation, as the service keeps it. */
async function found(queries: QueryClient, id: string): Promise<{ kept: Kept; lines: Line[] }> {
  const { talk, messages } = await queries.fetchQuery(talkQuery(id))
  const kept = { id, model: talk.modelId, systemPrompt: talk.systemPrompt ?? '' }
  return { kept, lines: messages.flatMap(toLine) }
}

interface Props {
  /** One that was begun earlier. */
  id: string | undefined
  /** Told of one that is new. */
  onBegun: (id: string) => void
  /** Told of what an earlier one was asked with. */
  onFound: (asking: Pick<Asking, 'model' | 'systemPrompt'>) => void
}

/** A conversation with a model: what was said, and how to say more. */
export function useConversation({ id, onBegun, onFound }: Props) {
  const queries = useQueryClient()
  const [lines, setLines] = useState<readonly Line[]>([])
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const kept = useRef<Kept>(undefined)
  const stopping = useRef<AbortController>(undefined)

  useEffect(() => {
    let isWanted = id !== kept.current?.id
    const end = () => {
      isWanted = false
    }
    if (!isWanted) return end
    stopping.current?.abort()
    stopping.current = undefined
    kept.current = undefined
    setBusy(false)
    setLines([])
    setError(undefined)
    if (id === undefined) return end
    found(queries, id)
      .then((talk) => {
        if (!isWanted) return
        kept.current = talk.kept
        setLines(talk.lines)
        onFound(talk.kept)
      })
      .catch((thrown: Error) => isWanted && setError(thrown))
    return end
  }, [id, queries])
  useEffect(() => () => stopping.current?.abort(), [])

  const send = async (content: string, asking: Asking) => {
    const control = new AbortController()
    stopping.current = control
    setBusy(true)
    setError(undefined)
    const answer = new Answer(asking.model, (line) => {
      if (stopping.current === control) setLines((all) => [...all.slice(0, -1), line])
    })
    setLines((all) => [...all, { role: 'user', text: content }, answer.line])
    try {
      const talk = await prepared(kept.current, asking, content)
      if (stopping.current !== control) return
      kept.current = talk
      onBegun(talk.id)
      await answer.read(await said(talk.id, content, { asking, signal: control.signal }))
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown)
      answer.end(control.signal.aborted ? 'Stopped.' : reason)
    } finally {
      if (stopping.current === control) setBusy(false)
      void queries.invalidateQueries({ queryKey: talksKey })
    }
  }
  return { lines, isBusy, error, send, stop: () => stopping.current?.abort() }
}

/** An answer as it comes; shown once a frame, however fast it is. */
class Answer {
  line: Line
  readonly #show: (line: Line) => void
  #frame = 0

  constructor(model: string, show: (line: Line) => void) {
    this.line = { role: 'assistant', text: '', model }
    this.#show = show
  }

  async read(response: Response): Promise<void> {
    const requestId = response.headers.get('x-request-id')
    if (requestId) this.line = { ...this.line, requestId }
    for await (const { text, reasoning } of piecesOf(response)) {
      const { line } = this
      this.line = {
        ...line,
        text: line.text + text,
        reasoning: (line.reasoning ?? '') + reasoning,
      }
      this.#frame ||= requestAnimationFrame(() => {
        this.#frame = 0
        this.#show(this.line)
      })
    }
    this.end()
  }

  end(problem?: string): void {
    cancelAnimationFrame(this.#frame)
    if (problem !== undefined) this.line = { ...this.line, problem }
    this.#show(this.line)
  }
}
