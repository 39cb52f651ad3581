import { Fieldset, MultiSelect, SimpleGrid, TagsInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { collectionsQuery } from '../collections/queries'
import { providersQuery, suggestionsQuery } from '../models/queries'
import { endpoints, type Key } from './queries'

type Endpoint = (typeof endpoints)[number]['value']

/** The lists of what a key may call, as the form has them: an empty list is none. */
export interface AccessFormFields {
  allowed_models: string[]
  denied_models: string[]
  allowed_providers: string[]
  denied_providers: string[]
  allowed_collections: string[]
  denied_collections: string[]
  allowed_endpoints: Endpoint[]
  denied_endpoints: Endpoint[]
}

export const noLists: AccessFormFields = {
  allowed_models: [],
  denied_models: [],
  allowed_providers: [],
  denied_providers: [],
  allowed_collections: [],
  denied_collections: [],
  allowed_endpoints: [],
  denied_endpoints: [],
}

const isEndpoint = (name: string): name is Endpoint => endpoints.some(({ value }) => value === name)

/** Returns the lists of an existing key. */
export const toAccessFields = (key: Pick<Key, keyof AccessFormFields>): AccessFormFields => ({
  allowed_models: key.allowed_models ?? [],
  denied_models: key.denied_models ?? [],
  allowed_providers: key.allowed_providers ?? [],
  denied_providers: key.denied_providers ?? [],
  allowed_collections: key.allowed_collections ?? [],
  denied_collections: key.denied_collections ?? [],
  allowed_endpoints: key.allowed_endpoints?.filter(isEndpoint) ?? [],
  denied_endpoints: key.denied_endpoints?.filter(isEndpoint) ?? [],
})

/** An empty list stands for no list: an empty text is no value. */
export const listOrNone = <Entry,>(list: Entry[]) => (list.length > 0 ? list : ('' as const))

/** Returns the lists for a request body. */
export const toAccessBody = (fields: AccessFormFields) => ({
  allowed_models: listOrNone(fields.allowed_models),
  denied_models: listOrNone(fields.denied_models),
  allowed_providers: listOrNone(fields.allowed_providers),
  denied_providers: listOrNone(fields.denied_providers),
  allowed_collections: listOrNone(fields.allowed_collections),
  denied_collections: listOrNone(fields.denied_collections),
  allowed_endpoints: listOrNone(fields.allowed_endpoints),
  denied_endpoints: listOrNone(fields.denied_endpoints),
})

interface Props<Fields extends AccessFormFields> {
  form: UseFormReturnType<Fields>
}

/** The lists of what a key may call. */
export function AccessFields<Fields extends AccessFormFields>({ form }: Props<Fields>) {
  const { data: providers = [] } = useQuery(providersQuery)
  const { data: collections = [] } = useQuery(collectionsQuery)
  const providerKeys = providers.map(({ value }) => value)
  const collectionNames = ['collection/*', ...collections.map((one) => one.model_id)]
  const tags = { maxTags: maxListed, acceptValueOnBlur: true }
  return (
    <Fieldset legend="What the key may call">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Models
          label="Allowed models"
          description="IDs, or a provider with /*, such as openai/*. Empty: all models"
          {...form.getInputProps('allowed_models')}
        />
        <Models
          label="Denied models"
          description="Rejected, even if a list allows them"
          {...form.getInputProps('denied_models')}
        />
        <TagsInput
          label="Allowed providers"
          data={providerKeys}
          {...tags}
          {...form.getInputProps('allowed_providers')}
        />
        <TagsInput
          label="Denied providers"
          data={providerKeys}
          {...tags}
          {...form.getInputProps('denied_providers')}
        />
        <TagsInput
          label="Allowed collections"
          data={collectionNames}
          {...tags}
          {...form.getInputProps('allowed_collections')}
        />
        <TagsInput
          label="Denied collections"
          data={collectionNames}
          {...tags}
          {...form.getInputProps('denied_collections')}
        />
        <MultiSelect
          label="Allowed endpoints"
          searchable
          data={[...endpoints]}
          {...form.getInputProps('allowed_endpoints')}
        />
        <MultiSelect
          label="Denied endpoints"
          searchable
          data={[...endpoints]}
          {...form.getInputProps('denied_endpoints')}
        />
      </SimpleGrid>
    </Fieldset>
  )
}

const debounceMs = 200
const maxLength = 256
const maxListed = 100

interface ModelsProps {
  label: string
  description: string
}

/** Suggests models, and accepts any id that a key may name. */
function Models(props: ModelsProps) {
  const [search, setSearch] = useState('')
  const [typed] = useDebouncedValue(search.trim().slice(0, 100), debounceMs)
  const { data = [] } = useQuery({ ...suggestionsQuery(typed), placeholderData: keepPreviousData })
  return (
    <TagsInput
      maxLength={maxLength}
      maxTags={maxListed}
      acceptValueOnBlur
      data={data}
      // The service has already filtered.
      filter={({ options }) => options}
      searchValue={search}
      onSearchChange={setSearch}
      {...props}
    />
  )
}
