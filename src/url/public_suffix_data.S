// The built-in Public Suffix List, as text (third_party/publicsuffix).
    .section .rodata
    .global nephila_public_suffix_list_begin
    .global nephila_public_suffix_list_end
nephila_public_suffix_list_begin:
    .incbin NEPHILA_PUBLIC_SUFFIX_LIST
nephila_public_suffix_list_end:
    .section .note.GNU-stack, "", %progbits
