import { useState } from 'react'
import { ApiError } from './api'

/** What of a form is told that a field is wrong. */
interface Fields {
  values: object
  setFieldError: (path: string, message: string) => void
}

/**
 * Does something, once at a time. Why it failed is shown at the field that the service names, where
 * `form` has it, else it is `error`.
 */
export function useSubmit<Input>(work: (input: Input) => Promise<unknown>, form?: Fields) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const submit = async (input: Input) => {
    if (isBusy) return
    setBusy(true)
    setError(undefined)
    try {
      await work(input)
    } catch (thrown) {
      const problem = thrown instanceof Error ? thrown : new Error(String(thrown))
      const param = problem instanceof ApiError ? problem.param : null
      if (form && param !== null && param in form.values) form.setFieldError(param, problem.message)
      else setError(problem)
    } finally {
      setBusy(false)
    }
  }
  return { submit, isBusy, error }
}
