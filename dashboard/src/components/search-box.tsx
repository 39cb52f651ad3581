import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useState } from 'react'

const debounceMs = 300

interface Props extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: string | undefined
  /** Called when typing pauses; undefined when the field is empty. */
  onSearch: (text: string | undefined) => void
}

/** A search field whose value lives in the address. */
export function SearchBox({ value = '', onSearch, ...props }: Props) {
  const [text, setText] = useState(value)
  const searchDebounced = useDebouncedCallback(
    (typed: string) => onSearch(typed.trim() || undefined),
    debounceMs,
  )
  // Browser history and a cleared filter change the value too.
  useEffect(() => setText((typed) => (typed.trim() === value ? typed : value)), [value])
  return (
    <TextInput
      type="search"
      maxLength={100}
      {...props}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        searchDebounced(event.currentTarget.value)
      }}
    />
  )
}
