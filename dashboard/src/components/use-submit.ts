import { useState } from 'react'
import { hasField } from './form-path'
import { ApiError } from '../api/client'

/** The part of a form that receives field errors. */
interface Fields {
  values: object
  setFieldError: (path: string, message: string) => void
}

/**
 * Runs a submission, one at a time. An error appears at the field that the API names if `form` has it, and
 * otherwise as `error`.
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
      if (form && param !== null && hasField(form.values, param))
        form.setFieldError(param, problem.message)
      else setError(problem)
    } finally {
      setBusy(false)
    }
  }
  return { submit, isBusy, error }
}
