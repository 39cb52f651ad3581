import { TextInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { ModelFields, newModel, useModelForm } from './model-fields'
import { api, type Schemas } from '../../../api/client'
import { toBody } from '../../../components/changed-fields'
import { ResourceForm } from '../../../components/resource-form'
import { PriceInputs } from './price-inputs'
import { priceFieldsOf, toPricing } from '../../models/prices'
import { useRefresh } from '../refresh'

interface Props {
  onClose: () => void
  onCreated: (id: string) => void
}

export function NewModel({ onClose, onCreated }: Props) {
  const refresh = useRefresh()
  const named = useForm({ initialValues: { id: '' } })
  const form = useModelForm(newModel)
  const [price, setPrice] = useState(priceFieldsOf(null))
  const errorFields = { values: { ...named.values, ...form.values }, setFieldError }
  function setFieldError(path: string, message: string) {
    if (path === 'id') named.setFieldError(path, message)
    else form.setFieldError(path, message)
  }
  const save = async () => {
    const pricing = toPricing(price)
    // A model without a price cannot be enabled yet; setting its first price enables it.
    const enabled = form.values.is_free || pricing !== null
    const { id } = named.values
    const body = toBody<Schemas['NewModel']>({ id, ...form.values, pricing, enabled })
    await api.POST('/api/admin/models', { body })
    await refresh()
    notifications.show({ message: `${id} was created.` })
    onCreated(id)
  }
  return (
    <ResourceForm
      form={form}
      save={save}
      errorFields={errorFields}
      label="Create"
      onCancel={onClose}
    >
      <TextInput
        label="ID"
        description="The name clients send: provider/model, with the key of a provider"
        required
        maxLength={256}
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
        {...named.getInputProps('id')}
      />
      <ModelFields form={form} />
      <Text size="sm" c="dimmed">
        A model without a price stays disabled unless it is free.
      </Text>
      <PriceInputs value={price} onChange={setPrice} />
    </ResourceForm>
  )
}
