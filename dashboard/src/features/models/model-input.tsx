import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { suggestionsQuery } from './queries'

const debounceMs = 200

interface Props extends Omit<AutocompleteProps, 'data' | 'value' | 'onChange'> {
  value: string
  onChange: (modelId: string) => void
}

/** An input for a model id that suggests matching models. */
export function ModelInput(props: Props) {
  const [typed] = useDebouncedValue(props.value.trim(), debounceMs)
  const { data = [] } = useQuery({
    ...suggestionsQuery(typed.slice(0, 100)),
    placeholderData: keepPreviousData,
  })
  return (
    <Autocomplete
      placeholder="provider/model"
      maxLength={256}
      {...props}
      // The service has already filtered, also by names that the ids need not contain.
      filter={({ options }) => options}
      data={data}
    />
  )
}
