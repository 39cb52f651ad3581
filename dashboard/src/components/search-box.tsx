import { TextInput, type TextInputProps } from '@mantine/core'
import { useTyped } from './use-typed'

interface Props extends Omit<TextInputProps, 'value' | 'onChange'> {
  value: string | undefined
  /** Called when typing pauses; undefined when the field is empty. */
  onSearch: (text: string | undefined) => void
}

/** A search field whose value lives in the address. */
export function SearchBox({ value = '', onSearch, ...props }: Props) {
  const [typed, type] = useTyped(value, (text) => onSearch(text || undefined))
  return (
    <TextInput
      type="search"
      maxLength={100}
      {...props}
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
    />
  )
}
