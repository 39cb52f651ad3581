import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../../api/client'
import { reasonOf } from '../../api/reason'
import type { Answered } from './media-queries'

interface State<Result> {
  isBusy: boolean
  result: Result | undefined
  requestId: string | null
  problem: string | undefined
}

type Send<Result> = (signal: AbortSignal) => Promise<Answered<Result>>

/** One request at a time: its answer or its failure, and functions to send the next one and to stop. */
export function useRequest<Result>() {
  const [state, setState] = useState<State<Result>>({
    isBusy: false,
    result: undefined,
    requestId: null,
    problem: undefined,
  })
  const stopping = useRef<AbortController>(undefined)
  const stop = () => stopping.current?.abort()
  useEffect(() => stop, [])
  const run = async (send: Send<Result>) => {
    const control = new AbortController()
    stop()
    stopping.current = control
    const show = (fields: Partial<State<Result>>) => {
      if (stopping.current !== control) return
      setState({ isBusy: false, result: undefined, requestId: null, problem: undefined, ...fields })
    }
    show({ isBusy: true })
    try {
      show(await send(control.signal))
    } catch (thrown) {
      show({
        requestId: thrown instanceof ApiError ? thrown.requestId : null,
        problem: control.signal.aborted ? 'Stopped.' : reasonOf(thrown),
      })
    }
  }
  return { ...state, run, stop }
}
