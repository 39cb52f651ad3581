import { TextInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { ModelFields, newModel, useModelForm } from './model-fields'
import { admin, json } from '../../api'
import { changesOf } from '../../changes'
import { FormFrame } from '../../components/form-frame'
import { PriceInputs } from '../../components/price-inputs'
import { priceFieldsOf, toPricing } from '../../prices'
import { useRefresh } from '../../operator/refresh'
import { useSubmit } from '../../submit'

interface Props {
  onClose: () => void
  onMade: (id: string) => void
}

export function NewModel({ onClose, onMade }: Props) {
  const refresh = useRefresh()
  const named = useForm({ initialValues: { id: '' } })
  const form = useModelForm(newModel)
  const [price, setPrice] = useState(priceFieldsOf(null))
  const fields = { values: { ...named.values, ...form.values }, setFieldError }
  function setFieldError(path: string, message: string) {
    if (path === 'id') named.setFieldError(path, message)
    else form.setFieldError(path, message)
  }
  const submission = useSubmit(async () => {
    const pricing = toPricing(price)
    // A model without a price cannot be enabled yet; setting its first price enables it.
    const enabled = form.values.is_free || pricing !== null
    const { id } = named.values
    const sent = { id, ...changesOf(form.values, {}), pricing, enabled }
    await admin.models.$post(undefined, json(sent))
    await refresh()
    notifications.show({ message: `${id} was created.` })
    onMade(id)
  }, fields)
  return (
    <FormFrame form={form} submission={submission} label="Create" onCancel={onClose}>
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
    </FormFrame>
  )
}
