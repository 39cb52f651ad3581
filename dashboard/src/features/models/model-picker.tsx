import { Autocomplete } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { collectionsQuery } from '../collections/queries'
import { callableModelsQuery, type Model } from './queries'

interface Props {
  label: string
  /** The kind of the models to suggest; collections have models that chat. */
  category?: Model['category']
  model: string
  onChange: (model: string) => void
}

/**
 * Selects a model: suggests those that the account can call and the collections, and accepts any other name that a request
 * may use.
 */
export function ModelPicker({ label, category = 'chat', model, onChange }: Props) {
  const [typed, setTyped] = useState(model)
  useEffect(() => setTyped(model), [model])
  const [search] = useDebouncedValue(typed === model ? '' : typed.trim(), 200)
  const { data: models = [] } = useQuery(callableModelsQuery(category, search))
  const { data: collections = [] } = useQuery(collectionsQuery)
  const commit = (name: string) => {
    setTyped(name)
    if (name.trim() !== model) onChange(name.trim())
  }
  const groups = [
    {
      group: 'Collections',
      items: collections.flatMap(({ model_id: id, enabled }) =>
        enabled && category === 'chat' && id.includes(search) ? [id] : [],
      ),
    },
    { group: 'Models', items: models.map(({ id }) => id) },
  ]
  return (
    <Autocomplete
      label={label}
      placeholder="provider/model"
      data={groups.filter(({ items }) => items.length > 0)}
      // The service has already filtered.
      filter={({ options }) => options}
      value={typed}
      onChange={setTyped}
      onOptionSubmit={commit}
      onBlur={() => commit(typed)}
      comboboxProps={{ shadow: 'md' }}
      spellCheck={false}
    />
  )
}
