package dev.interlock.simulation;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.google.common.io.ByteArrayDataInput;
import com.google.common.io.ByteArrayDataOutput;
import java.util.ArrayList;
import java.util.List;

/** MessagePack, of numbers, strings and arrays: as short as Redis writes it. */
final class MessagePack {
    private static final int SHORT_ARRAY = 0x90;
    private static final int SHORT_STRING = 0xa0;

    private MessagePack() {}

    static void write(double number, ByteArrayDataOutput out) {
        long integer = (long) number;
        if (integer == number && integer < Long.MAX_VALUE) {
            write(integer, out);
        } else if ((float) number == number) {
            out.writeByte(0xca);
            out.writeFloat((float) number);
        } else {
            out.writeByte(0xcb);
            out.writeDouble(number);
        }
    }

    private static void write(long number, ByteArrayDataOutput out) {
        if (number >= -32 && number <= 0x7f) {
            out.writeByte((int) number);
        } else if (number >= 0) {
            writeSized(number, 0xcc, out);
        } else if (number >= Byte.MIN_VALUE) {
            out.writeByte(0xd0);
            out.writeByte((int) number);
        } else if (number >= Short.MIN_VALUE) {
            out.writeByte(0xd1);
            out.writeShort((int) number);
        } else if (number >= Integer.MIN_VALUE) {
            out.writeByte(0xd2);
            out.writeInt((int) number);
        } else {
            out.writeByte(0xd3);
            out.writeLong(number);
        }
    }

    /** Writes a number in as few bytes as it needs, with the code of that size before it. */
    private static void writeSized(long number, int code, ByteArrayDataOutput out) {
        if (number <= 0xff) {
            out.writeByte(code);
            out.writeByte((int) number);
        } else if (number <= 0xffff) {
            out.writeByte(code + 1);
            out.writeShort((int) number);
        } else if (number <= 0xffffffffL) {
            out.writeByte(code + 2);
            out.writeInt((int) number);
        } else {
            out.writeByte(code + 3);
            out.writeLong(number);
        }
    }

    static void write(String bytes, ByteArrayDataOutput out) {
        if (bytes.length() < 32) {
            out.writeByte(SHORT_STRING + bytes.length());
        } else {
            writeSized(bytes.length(), 0xd9, out);
        }
        out.write(bytes.getBytes(ISO_8859_1));
    }

    /** Writes the size of an array, which its elements follow. */
    static void writeSize(int size, ByteArrayDataOutput out) {
        if (size < 16) {
            out.writeByte(SHORT_ARRAY + size);
        } else if (size <= 0xffff) {
            out.writeByte(0xdc);
            out.writeShort(size);
        } else {
            out.writeByte(0xdd);
            out.writeInt(size);
        }
    }

    /** Reads a value: a Double, a String of bytes, or a List of these. */
    static Object read(ByteArrayDataInput in) {
        int code = in.readUnsignedByte();
        if (code <= 0x7f || code >= 0xe0) {
            return (double) (byte) code;
        } else if (code >= SHORT_STRING && code < SHORT_STRING + 32) {
            return string(code - SHORT_STRING, in);
        } else if (code >= SHORT_ARRAY && code < SHORT_ARRAY + 16) {
            return array(code - SHORT_ARRAY, in);
        }
        return switch (code) {
            case 0xca -> (double) in.readFloat();
            case 0xcb -> in.readDouble();
            case 0xcc -> (double) in.readUnsignedByte();
            case 0xcd -> (double) in.readUnsignedShort();
            case 0xce -> (double) (in.readInt() & 0xffffffffL);
            case 0xcf, 0xd3 -> (double) in.readLong();
            case 0xd0 -> (double) in.readByte();
            case 0xd1 -> (double) in.readShort();
            case 0xd2 -> (double) in.readInt();
            case 0xd9 -> string(in.readUnsignedByte(), in);
            case 0xda -> string(in.readUnsignedShort(), in);
            case 0xdb -> string(in.readInt(), in);
            case 0xdc -> array(in.readUnsignedShort(), in);
            case 0xdd -> array(in.readInt(), in);
            default -> throw new UnsupportedOperationException("Not simulated: a message with code " + code);
        };
    }

    private static String string(int size, ByteArrayDataInput in) {
        byte[] bytes = new byte[size];
        in.readFully(bytes);
        return new String(bytes, ISO_8859_1);
    }

    private static List<Object> array(int size, ByteArrayDataInput in) {
        List<Object> elements = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            elements.add(read(in));
        }
        return elements;
    }
}
