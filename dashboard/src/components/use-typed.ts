import { useCounter, useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

/** Debounces typing, so that a list does not reload at every keystroke. */
const typingMs = 300

/**
 * The typed text of a field whose value lives in the address, and its debounced setter: `onSettled` receives the trimmed
 * text after a pause. A value set from elsewhere, such as the browser's history, replaces the text and ends the pause;
 * the field's own value does not, as typing may have continued before the address has it.
 */
export function useTyped(value: string, onSettled: (text: string) => void) {
  const [typed, setTyped] = useState(value)
  const settled = useRef(value)
  const settle = useDebouncedCallback((text: string) => {
    settled.current = text.trim()
    onSettled(settled.current)
  }, typingMs)
  useEffect(() => {
    if (value === settled.current) return
    settled.current = value
    settle.cancel()
    setTyped(value)
  }, [value, settle])
  const type = (text: string) => {
    setTyped(text)
    settle(text)
  }
  return [typed, type] as const
}

/**
 * Clears filters. `fieldsKey` is the key of what contains their fields: new fields do not have what was typed and is not
 * in the address yet.
 */
export function useClear(onClear: () => void) {
  const [fieldsKey, { increment }] = useCounter()
  const clear = () => {
    increment()
    onClear()
  }
  return { fieldsKey, clear }
}
